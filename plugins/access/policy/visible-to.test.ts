import test from 'ava'
import fc from 'fast-check'
import { type Caller, matcher, type Permission, type Rights, type Stored } from 'pounce/sdk'
import { cast, idOf, member, policyOn, someone } from './testing-fixtures/cast.ts'

const spaces = ['one', 'two', 'three']
const permissions: readonly Permission[] = [
  'ViewDataset',
  'ViewFile',
  'DownloadFiles',
  'EditDataset',
  'DeleteDataset',
  'AddFile',
  'AddResourceToDataset',
]

const anyMembership = fc
  .tuple(fc.constantFrom(...spaces), fc.oneof(fc.constantFrom('Viewer', 'Editor', 'Admin'), fc.subarray([...permissions])))
  .map(([space, role]) => member(space, role as 'Viewer'))
const anyUser = fc
  .record({
    name: fc.constantFrom('ada', 'ben'),
    memberships: fc.uniqueArray(anyMembership, { selector: held => held.space }),
    status: fc.constantFrom('Active', 'Inactive', 'ReadOnly', 'Admin'),
    scope: fc.constantFrom('full', 'extraction'),
    asksForAll: fc.boolean(),
  })
  .map(({ name, memberships, status, scope, asksForAll }) =>
    someone(name, memberships, {
      status: status as 'Active',
      scope: scope as 'full',
      superAdmin: asksForAll && status === 'Admin' && scope === 'full',
    }),
  )
const anyCaller: fc.Arbitrary<Caller> = fc.oneof({ arbitrary: anyUser, weight: 8 }, fc.constantFrom(cast['anonymous']!, cast['service']!))
const anyRights = fc.record({
  author: fc.constantFrom('ada', 'ben', 'cyd').map(idOf),
  spaces: fc.subarray(spaces).map(names => names.map(idOf)),
  isPublic: fc.boolean(),
})
const anyMode = fc.record({ isPrivate: fc.boolean(), allowAnonymousDownload: fc.boolean() })

test('a list shows exactly the live things on which the caller holds the permission', async t => {
  const property = fc.asyncProperty(
    anyCaller,
    anyRights,
    anyMode,
    fc.constantFrom(...permissions),
    async (caller, fields, mode, permission) => {
      const rights: Rights = { ...fields, state: 'live' }
      const policy = policyOn({ all: () => [{ kind: 'dataset', rightsOf: async ids => new Map(ids.map(id => [id, rights])) }] }, mode)
      const id = idOf('thing')
      const record: Stored & typeof fields = { id, revision: 1, ...fields }
      const where = policy.visibleTo(caller, permission)
      const isListed = where === 'all' || (where !== 'nothing' && matcher(where)(record))
      const verdict = await policy.canOn(caller, permission, { kind: 'dataset', id })
      const allowed = await policy.allowed(caller, permission, 'dataset', [id])
      const explained = await policy.explain(caller, permission, { kind: 'dataset', id })
      return isListed === (verdict === 'yes') && allowed.has(id) === (verdict === 'yes') && explained.verdict === verdict
    },
  )
  await t.notThrowsAsync(fc.assert(property, { numRuns: 3000 }))
})

test('search covers every live thing that its own view permission lets the caller see', async t => {
  const property = fc.asyncProperty(anyCaller, anyRights, anyMode, async (caller, fields, mode) => {
    const rights: Rights = { ...fields, state: 'live' }
    const policy = policyOn({ all: () => [{ kind: 'dataset', rightsOf: async ids => new Map(ids.map(id => [id, rights])) }] }, mode)
    const scope = policy.searchScope(caller)
    const isFound =
      scope.all ||
      fields.spaces.some(space => scope.spaces.includes(space)) ||
      scope.author === fields.author ||
      (scope.includePublic && fields.isPublic)
    const verdict = await policy.canOn(caller, 'ViewDataset', { kind: 'dataset', id: idOf('thing') })
    return isFound || verdict !== 'yes'
  })
  await t.notThrowsAsync(fc.assert(property, { numRuns: 2000 }))
})

test('a caller without any right to look gets nothing, not everything', t => {
  const policy = policyOn({ all: () => [] }, { isPrivate: true })
  t.is(policy.visibleTo(cast['anonymous']!, 'EditDataset'), 'nothing')
  t.is(policy.visibleTo(cast['inactiveAuthor']!, 'ViewDataset'), 'nothing')
  t.is(policy.visibleTo(cast['authorsExtractor']!, 'DeleteDataset'), 'nothing')
  t.deepEqual(policy.searchScope(cast['inactiveAuthor']!), { all: false, spaces: [], includePublic: false })
})
