import type { Membership, Permission, Resource } from 'pounce/sdk'
import { type Mode, roleHolds } from './mode.ts'

/** Which of these a role sees; the same set is held in very many spaces, so it is looked at once. */
const kindsSeen = (mode: Mode, searched: readonly Resource[]): ((held: Membership) => number) => {
  const known = new Map<ReadonlySet<Permission>, number>()
  return held => {
    const found =
      known.get(held.permissions) ?? searched.reduce((bits, { view }, at) => bits | (Number(roleHolds(mode, held, view)) << at), 0)
    known.set(held.permissions, found)
    return found
  }
}

/** Spaces in which everything that is searched is seen, and those in which some kinds are. */
export const searchedSpaces = (mode: Mode, searched: readonly Resource[], memberships: readonly Membership[]) => {
  const seen = kindsSeen(mode, searched)
  const bySpace = new Map<string, number>()
  for (const held of memberships) bySpace.set(held.space, (bySpace.get(held.space) ?? 0) | seen(held))
  const byKinds = Map.groupBy(bySpace.keys(), space => bySpace.get(space) ?? 0)
  const all = 2 ** searched.length - 1
  const inPart = [...byKinds].flatMap(([bits, spaces]) => {
    const kinds = searched.filter((_, at) => (bits >> at) & 1).map(({ kind }) => kind)
    return bits === all || bits === 0 ? [] : [{ kinds, spaces }]
  })
  return { whole: byKinds.get(all) ?? [], inPart }
}
