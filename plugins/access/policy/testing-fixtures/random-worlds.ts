import fc from 'fast-check'
import type { AccountStatus, Caller, Kind, Permission, Ref, Rights } from 'pounce/sdk'
import type { KeyLimits, Verb } from 'pounce/sdk/kit'
import { cast, idOf, member, someone } from './cast.ts'
import type { NaiveWorld } from './naive-policy.ts'

const spaces = ['one', 'two', 'three']
const people = ['ada', 'ben', 'cyd']

/** Some permissions of each verb, and of each special rule. */
export const somePermissions: readonly Permission[] = [
  ...(['ViewDataset', 'ViewFile', 'ViewCollection', 'ViewSpace', 'ViewUser', 'ViewMetadata', 'ViewComments', 'ViewSection'] as const),
  ...(['DownloadFiles', 'EditDataset', 'AddFile', 'AddResourceToDataset', 'AddMetadata', 'CreateDataset'] as const),
  ...([
    'DeleteDataset',
    'DeleteFile',
    'ArchiveFile',
    'DeleteCollection',
    'RemoveResourceFromSpace',
    'EditSpace',
    'PublicDataset',
    'EditUser',
  ] as const),
]

const anyMembership = fc
  .tuple(fc.constantFrom(...spaces), fc.oneof(fc.constantFrom('Viewer', 'Editor', 'Admin'), fc.subarray([...somePermissions])))
  .map(([space, role]) => member(space, role as 'Viewer'))

const anyLimits: fc.Arbitrary<KeyLimits> = fc
  .record(
    {
      verbs: fc.subarray<Verb>(['read', 'write', 'delete', 'manage']).map(verbs => new Set(verbs)),
      spaces: fc.subarray([...spaces, 'four']).map(names => new Set(names.map(idOf))),
    },
    { requiredKeys: [] },
  )
  .map(limits => limits as KeyLimits)

const anyUser = fc
  .record({
    name: fc.constantFrom(...people),
    memberships: fc.array(anyMembership, { maxLength: 6 }),
    status: fc.constantFrom<AccountStatus>('Active', 'Active', 'Inactive', 'ReadOnly', 'Admin'),
    scope: fc.constantFrom<Caller['scope']>('full', 'full', 'extraction'),
    asksForAll: fc.boolean(),
    limits: fc.option(anyLimits, { nil: undefined }),
    terms: fc.integer({ min: 0, max: 9 }),
  })
  .map(({ name, memberships, status, scope, asksForAll, limits, terms }): Caller => {
    const superAdmin = asksForAll && status === 'Admin' && scope === 'full'
    const caller = someone(name, memberships, { status, scope, superAdmin, ...(limits ? { limits } : {}) })
    return terms === 0 && caller.user ? { ...caller, user: { ...caller.user, termsPending: true } } : caller
  })

/** Any caller, with any account status and any key. */
export const anyCaller: fc.Arbitrary<Caller> = fc.oneof(
  { arbitrary: anyUser, weight: 8 },
  fc.constantFrom(cast['anonymous'] as Caller, cast['service'] as Caller),
)

const anyTop = fc.record({
  author: fc.constantFrom(...people).map(idOf),
  spaces: fc.subarray(spaces).map(names => names.map(idOf)),
  isPublic: fc.boolean(),
  state: fc.constantFrom<Rights['state']>('live', 'live', 'live', 'trashed', 'importing'),
})

const below = (kinds: readonly [Kind, string][], most: number): fc.Arbitrary<Rights> =>
  fc
    .record({
      author: fc.constantFrom(...people.map(idOf), ''),
      parents: fc.subarray(
        kinds.map(([kind, name]): Ref => ({ kind, id: idOf(name) })),
        { maxLength: most },
      ),
    })
    .map(({ author, parents }) => ({ author, spaces: [], isPublic: false, state: 'live', parents }))

const ofSpace = (name: string) => anyTop.map(rights => ({ ...rights, spaces: [idOf(name)], state: 'live' as const }))
const ofUser = (name: string) => anyTop.map(rights => ({ ...rights, author: idOf(name), isPublic: false, state: 'live' as const }))
const named = (kind: Kind, ...names: string[]) => names.map((name): [Kind, string] => [kind, name])

/** Spaces, accounts, and resources of every sort: within these, within each other, without a parent, or with a deleted one. */
export const anyWorld: fc.Arbitrary<NaiveWorld> = fc.record({
  'space:one': ofSpace('one'),
  'space:two': ofSpace('two'),
  'user:ada': ofUser('ada'),
  'user:ben': ofUser('ben'),
  'dataset:d1': anyTop,
  'dataset:d2': anyTop,
  'collection:c1': anyTop,
  'folder:o1': below(named('dataset', 'd1'), 1),
  'file:f1': below(named('dataset', 'd1', 'd2', 'gone'), 3),
  'file:f2': below(named('dataset', 'd2', 'gone'), 2),
  'preview:p1': below([...named('file', 'f1'), ...named('dataset', 'd1'), ...named('file', 'gone')], 1),
  'section:s1': below(named('file', 'f1', 'f2'), 1),
  'metadata:m1': below([...named('section', 's1'), ...named('collection', 'c1'), ...named('space', 'one')], 1),
  'comment:k1': below([...named('metadata', 'm1'), ...named('preview', 'p1')], 1),
})

/** Settings of the installation. */
export const anyMode = fc.record({ isPrivate: fc.boolean(), allowAnonymousDownload: fc.boolean() })
