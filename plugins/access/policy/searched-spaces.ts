import type { Kind, Membership, Permission } from 'pounce/sdk'
import { type Mode, roleHolds } from './mode.ts'

/** What searches find, and the right that each takes. */
export const searchable: readonly { readonly kind: Kind; readonly permission: Permission }[] = [
  { kind: 'dataset', permission: 'ViewDataset' },
  { kind: 'file', permission: 'ViewFile' },
  { kind: 'collection', permission: 'ViewCollection' },
  { kind: 'sensor', permission: 'ViewGeoStream' },
  { kind: 'stream', permission: 'ViewGeoStream' },
]

/** Which of these a role sees; the same set is held in very many spaces, so it is looked at once. */
const kindsSeen = (mode: Mode): ((held: Membership) => number) => {
  const known = new Map<ReadonlySet<Permission>, number>()
  return held => {
    const found =
      known.get(held.permissions) ??
      searchable.reduce((bits, { permission }, at) => bits | (Number(roleHolds(mode, held, permission)) << at), 0)
    known.set(held.permissions, found)
    return found
  }
}

/** Spaces in which everything that is searched is seen, and those in which some kinds are. */
export const searchedSpaces = (mode: Mode, memberships: readonly Membership[]) => {
  const seen = kindsSeen(mode)
  const bySpace = new Map<string, number>()
  for (const held of memberships) bySpace.set(held.space, (bySpace.get(held.space) ?? 0) | seen(held))
  const byKinds = Map.groupBy(bySpace.keys(), space => bySpace.get(space) ?? 0)
  const all = 2 ** searchable.length - 1
  const inPart = [...byKinds].flatMap(([bits, spaces]) => {
    const kinds = searchable.filter((_, at) => (bits >> at) & 1).map(({ kind }) => kind)
    return bits === all || bits === 0 ? [] : [{ kinds, spaces }]
  })
  return { whole: byKinds.get(all) ?? [], inPart }
}
