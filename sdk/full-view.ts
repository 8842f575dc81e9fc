import type { Caller } from './model/caller.ts'
import type { Kind } from './model/kind.ts'
import { fullNameOf } from './model/people.ts'
import type { Permission } from './model/permission.ts'
import type { License, Statistics, Tag, Time } from './model/records.ts'
import type { Contributions } from './port.ts'
import { type ContentCount, countIn } from './ports/contributed.ts'
import type { Policy } from './ports/policy.ts'
import type { Users } from './ports/users.ts'
import * as s from './schema.ts'

/** The query parameter that selects the full view of a resource. */
export const viewParameter = s.Optional(
  s.Literal('full', {
    description:
      'Addition to Clowder 1.x: times in ISO 8601, author and containers with names, access, license, counts and rights of the caller',
  }),
)

/** Time of the last occurrence; null: never. */
const timeOrNull = () => s.Union([s.String(), s.Null()])

/** A resource named in the full view of another one. */
export const NamedContainer = s.Object({ id: s.String(), name: s.String() })

/** Members of the full view of every kind. */
export const fullMembers = {
  id: s.String(),
  name: s.String(),
  description: s.String(),
  created: s.String({ description: 'ISO 8601, UTC' }),
  author: s.Object({ id: s.String(), fullName: s.String() }),
  following: s.Boolean({ description: 'Whether the caller follows it' }),
  rights: s.Array(s.String(), { description: 'Permissions that the caller holds on it' }),
}

/** The license in a full view. */
export const FullLicense = s.model(
  'FullLicense',
  s.Object({
    ...{ type: s.String(), text: s.String(), url: s.String(), rightsHolder: s.String() },
    allowDownload: s.Boolean(),
  }),
  {
    ...{ type: 'license2', text: 'Attribution', url: 'https://creativecommons.org/licenses/by/4.0/', rightsHolder: 'Example University' },
    allowDownload: true,
  },
)

/** The statistics in a full view. */
export const FullStatistics = s.model(
  'FullStatistics',
  s.Object({ views: s.Integer(), downloads: s.Integer(), lastViewed: timeOrNull(), lastDownloaded: timeOrNull() }),
  { views: 12, downloads: 4, lastViewed: '2026-03-05T10:15:00.000Z', lastDownloaded: null },
)

/** The tags in a full view. */
export const FullTags = s.Array(NamedContainer)

const describing = ['AddMetadata', 'EditMetadata', 'DeleteMetadata', 'AddTag', 'DeleteTag', 'AddComment', 'CreateRelation'] as const

/** The rights listed in a full view, by kind: those that decide which actions a client offers. */
const shownRights = {
  space: ['EditSpace', 'DeleteSpace', 'PublicSpace', 'AddResourceToSpace', 'RemoveResourceFromSpace', 'AddMetadata', 'DeleteMetadata'],
  collection: [
    'EditCollection',
    'DeleteCollection',
    'AddResourceToCollection',
    'RemoveResourceFromCollection',
    'CreatePreview',
    ...describing,
  ],
  dataset: [
    ...['EditDataset', 'DeleteDataset', 'PublicDataset', 'AddResourceToDataset', 'RemoveResourceFromDataset', 'AddFile'],
    // For its files, granted by the dataset.
    ...['EditFile', 'DeleteFile', 'ExecuteOnDataset', 'ArchiveDataset', 'DownloadFiles', 'EditLicense', ...describing],
  ],
  file: ['EditFile', 'DeleteFile', 'DownloadFiles', 'ArchiveFile', 'EditLicense', 'CreatePreview', 'CreateSection', ...describing],
} as const satisfies Partial<Record<Kind, readonly Permission[]>>

interface Shown {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly author: string
  readonly created: Time
}

/** The dependencies of `fullViewOf`. */
export interface FullViewSource {
  readonly users: Users
  readonly policy: Policy
}

/** The `fullMembers` of up to 1,000 resources of one kind, in three reads. */
export const fullViewOf = async (
  { users, policy }: FullViewSource,
  caller: Caller,
  kind: keyof typeof shownRights,
  records: readonly Shown[],
) => {
  const [people, held] = await Promise.all([
    users.getMany([...new Set([...records.map(({ author }) => author), ...(caller.user ? [caller.user.id] : [])])]),
    policy.held(
      caller,
      shownRights[kind],
      kind,
      records.map(({ id }) => id),
    ),
  ])
  const followed = new Set((caller.user ? people.get(caller.user.id)?.followed : undefined)?.map(({ id }) => id))
  return ({ id, name, description, author, created }: Shown) => {
    const person = people.get(author)
    return {
      ...{ id, name, description, created, author: { id: author, fullName: person ? fullNameOf(person) : '' } },
      ...{ following: followed.has(id), rights: [...(held.get(id) ?? [])] },
    }
  }
}

interface Container {
  readonly name: string
  readonly state: string
}

/** Names of the live containers that the caller may view. At most 1,000 are checked. */
export const containersFor = async (
  policy: Policy,
  caller: Caller,
  kind: Kind,
  from: { getMany(ids: readonly string[]): Promise<ReadonlyMap<string, Container>> },
  ids: readonly string[],
): Promise<(some: readonly string[]) => { id: string; name: string }[]> => {
  const wanted = [...new Set(ids)].slice(0, 1000)
  const [found, seen] =
    wanted.length === 0 ? [undefined, undefined] : await Promise.all([from.getMany(wanted), policy.seen(caller, kind, wanted)])
  return some =>
    some.flatMap(id => {
      const container = seen?.has(id) ? found?.get(id) : undefined
      return container?.state === 'live' ? [{ id, name: container.name }] : []
    })
}

/** How many containers are counted concurrently. */
const maxConcurrent = 32

/** The number of direct children of some containers, by container id and kind of child. */
export const contentsOf = async <K extends Kind>(
  counts: Contributions<ContentCount>,
  container: Kind,
  ids: readonly string[],
  kinds: readonly K[],
): Promise<ReadonlyMap<string, Readonly<Record<K, number>>>> => {
  const found = new Map<string, Record<K, number>>()
  for (let at = 0; at < ids.length; at += maxConcurrent) {
    const some = ids.slice(at, at + maxConcurrent)
    const counted = some.map(id =>
      Promise.all(kinds.map(async kind => [kind, await countIn(counts, kind, { kind: container, id })] as const)),
    )
    for (const [n, each] of (await Promise.all(counted)).entries())
      found.set(some[n] as string, Object.fromEntries(each) as Record<K, number>)
  }
  return found
}

/** A license as a full view shows it. */
export const fullLicense = ({ type, text, url, rightsHolder, allowDownload }: License): s.Static<typeof FullLicense> => ({
  ...{ type, text, url, rightsHolder, allowDownload },
})

/** Statistics as a full view shows them. */
export const fullStatistics = ({ views, downloads, lastViewed, lastDownloaded }: Statistics): s.Static<typeof FullStatistics> => ({
  ...{ views, downloads, lastViewed, lastDownloaded },
})

/** Tags as a full view shows them. */
export const fullTags = (tags: readonly Tag[]): s.Static<typeof FullTags> => tags.map(({ id, name }) => ({ id, name }))
