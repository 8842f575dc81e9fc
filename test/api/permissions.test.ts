import test from 'ava'
import { Groups } from 'pounce/sdk'
import { bootForTest, type TestFetch } from 'pounce/sdk/testing'
import { type Calls, callsOf } from '../support/calls.ts'
import { newKey } from '../support/people.ts'
import { letIn, newDataset, newSpace, recordPlugins, type Somebody, somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest({
  plugins: [...recordPlugins, 'resources.groups', 'resources.permissions'],
  config: { access: { private: true } },
})
const [ann, bob, cid] = [await somebody(server, 'ann'), await somebody(server, 'bob'), await somebody(server, 'cid')]
const admin = callsOf(server.as(server.admin.key))
const lab = await newSpace(ann, 'Soil lab')
const shared = await newDataset(ann, { space: [lab] })
const own = await newDataset(ann)
await letIn(ann, lab, 'Viewer', bob)
await server.drained()
test.after.always(() => server.stop())

interface Explained {
  readonly user: { readonly id: string; readonly fullName: string } | null
  readonly verb: string
  readonly verdict: string
  readonly because: readonly string[]
}
const explain = (by: Calls, query: Readonly<Record<string, string>>) => by.get(`/api/permissions/explain?${new URLSearchParams(query)}`)
const explained = async (by: Calls, query: Readonly<Record<string, string>>): Promise<Explained> => {
  const { status, body } = await explain(by, query)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body as Explained
}
const onShared = { type: 'dataset', id: shared }

test('the reason why a visible resource may not be changed is explained', async t => {
  const answer = await explained(bob, { permission: 'EditDataset', ...onShared })
  t.deepEqual(answer, {
    user: { id: bob.id, fullName: answer.user?.fullName ?? '' },
    permission: 'EditDataset',
    verb: 'write',
    resource: onShared,
    verdict: 'no',
    because: [
      `the caller did not create dataset ${shared}`,
      `role Viewer in space ${lab} (Soil lab) does not grant EditDataset`,
      `the caller holds ViewDataset, so dataset ${shared} is visible`,
    ],
  } as never)
  const may = await explained(bob, { permission: 'ViewDataset', ...onShared })
  t.deepEqual([may.verdict, may.because], ['yes', [`role Viewer in space ${lab} (Soil lab) grants ViewDataset`]])
})

test('a role held through a group is explained with the group', async t => {
  const dan = await somebody(server, 'dan')
  const { body } = await admin.post('/api/groups', { name: 'Soil people', description: '' })
  const { id } = body as { id: string }
  t.is((await admin.post(`/api/groups/${id}/members`, { users: [dan.id], user: dan.id, ids: [dan.id] })).status, 200)
  await server.get(Groups).setMembership(id, lab, '0000000000000000000000a2')
  await server.drained()
  const answer = await explained(callsOf(withSuperAdmin(server.as(server.admin.key))), {
    user: dan.id,
    permission: 'EditDataset',
    ...onShared,
  })
  t.deepEqual(
    [answer.verdict, answer.because],
    ['yes', [`role Editor in space ${lab} (Soil lab) through group ${id} (Soil people) grants EditDataset`]],
  )
})

/** Calls in superadmin mode. */
const withSuperAdmin =
  (call: TestFetch): TestFetch =>
  (path, init) =>
    call(`${path}${path.includes('?') ? '&' : '?'}superAdmin=true`, init)

test('rights of others are explained to server admins only, and no response reveals who has an account', async t => {
  for (const user of [ann.id, 'f'.repeat(24), 'nobody'])
    t.is((await explain(bob, { user, permission: 'ViewDataset', ...onShared })).status, 403)
  t.is((await explain(admin, { user: 'f'.repeat(24), permission: 'CreateSpace' })).status, 404)
  t.is((await explained(bob, { user: bob.id, permission: 'CreateSpace' })).verdict, 'yes')
  t.is((await explain(callsOf(server.as()), { permission: 'CreateSpace' })).status, 401)
  const nobody = await explained(bob, { user: 'anonymous', permission: 'ViewDataset', ...onShared })
  t.deepEqual([nobody.user, nobody.verdict], [null, 'unseen'])
})

test('an invisible resource gets the same response as a missing one', async t => {
  const superAdmin = callsOf(withSuperAdmin(server.as(server.admin.key)))
  for (const by of [cid, bob, admin]) {
    const of = (id: string) => explain(by, { permission: 'ViewDataset', type: 'dataset', id, ...(by === admin ? { user: ann.id } : {}) })
    const [hidden, missing, malformed] = [await of(own), await of('f'.repeat(24)), await of('not-an-id')]
    t.is(hidden.status, 404)
    const bare = ({ body }: typeof hidden) => ({ ...(body as object), requestId: '' })
    t.deepEqual(bare(hidden), bare(missing))
    t.deepEqual(bare(hidden), bare(malformed))
  }
  t.is((await explained(superAdmin, { user: cid.id, permission: 'ViewDataset', type: 'dataset', id: own })).verdict, 'unseen')
  const gone = await explained(superAdmin, { user: cid.id, permission: 'ViewDataset', type: 'dataset', id: 'f'.repeat(24) })
  t.deepEqual(gone.because, [`dataset ${'f'.repeat(24)} does not exist`])
})

test('a mistyped permission or type is refused with the nearest name', async t => {
  const message = async (query: Readonly<Record<string, string>>) => {
    const { status, body } = await explain(bob, query)
    return [status, (body as { message: string }).message]
  }
  t.deepEqual(await message({ permission: 'EditDatset' }), [400, 'Unknown permission EditDatset (did you mean EditDataset?)'])
  t.is((await message({ permission: 'EditDataset', type: 'datasets', id: shared }))[0], 400)
  t.deepEqual(await message({ permission: 'EditDataset', type: 'dataset' }), [400, 'type and id must be sent together'])
})

test('the limits of a limited key are explained', async t => {
  const key = await newKey(server, bob.email, bob.password, `name=narrow&verbs=read&spaces=${lab}`)
  const narrow = callsOf(server.as(key))
  const answer = await explained(narrow, { permission: 'EditDataset', ...onShared })
  t.is(answer.because[0], 'The key is limited to read; EditDataset requires the verb write')
  t.is((await explained(narrow, { permission: 'CreateSpace' })).verdict, 'no')
  t.is((await explained(narrow, { permission: 'ViewDataset', ...onShared })).verdict, 'yes')
})

test('every permission is listed with a description and its verb', async t => {
  const { body } = await bob.get('/api/permissions')
  const all = body as readonly { name: string; description: string; verb: string }[]
  t.is(all.length, new Set(all.map(({ name }) => name)).size)
  t.true(all.every(({ description, verb }) => description.length > 5 && ['read', 'write', 'delete', 'manage'].includes(verb)))
  t.deepEqual(
    all.find(({ name }) => name === 'EditSpace'),
    {
      name: 'EditSpace',
      description: 'Edit a space, its members and their roles',
      verb: 'manage',
    },
  )
  t.is((await callsOf(server.as()).get('/api/permissions')).status, 401)
})

test('a refusal names the ReadOnly account only where a change is refused for it', async t => {
  const reader = await somebody(server, 'hal')
  const writer = await somebody(server, 'ivy')
  const space = await newSpace(ann)
  const dataset = await newDataset(ann, { space: [space] })
  await letIn(ann, space, 'Viewer', reader)
  await letIn(ann, space, 'Editor', writer)
  await admin.post('/api/admin/users', { readonly: [reader.id, writer.id] })
  const download = await reader.get(`/api/datasets/${dataset}/download`)
  t.is(download.status, 403)
  t.is((download.body as { message: string }).message, 'Permission denied on the dataset: DownloadFiles required')
  t.is((await writer.get(`/api/datasets/${dataset}/download`)).status, 200)
  const renamed = await writer.put(`/api/datasets/${dataset}/title`, { name: 'same' })
  t.is(renamed.status, 403)
  t.regex((renamed.body as { message: string }).message, /the account is ReadOnly/)
})

test('explanations agree with decisions', async t => {
  const eve = await somebody(server, 'eve')
  const fay = await somebody(server, 'fay')
  await letIn(ann, lab, 'Editor', eve)
  await letIn(ann, lab, 'Admin', fay)
  const shown = await newDataset(ann, { space: [lab] })
  await ann.put(`/api/datasets/${shown}/access?access=PUBLIC`)
  const readOnly = await somebody(server, 'gus')
  await letIn(ann, lab, 'Admin', readOnly)
  await admin.post('/api/admin/users', { readonly: [readOnly.id] })
  await server.drained()
  const superAdmin = callsOf(withSuperAdmin(server.as(server.admin.key)))
  const tries: readonly (readonly [
    permission: string,
    type: string,
    of: (by: Somebody, id: string) => Promise<{ readonly status: number }>,
  ])[] = [
    ['ViewDataset', 'dataset', (by, id) => by.get(`/api/datasets/${id}`)],
    ['DownloadFiles', 'dataset', (by, id) => by.get(`/api/datasets/${id}/download`)],
    ['EditDataset', 'dataset', (by, id) => by.put(`/api/datasets/${id}/title`, { name: 'same' })],
    ['PublicDataset', 'dataset', (by, id) => by.put(`/api/datasets/${id}/access?access=${id === shown ? 'PUBLIC' : 'DEFAULT'}`)],
    ['ViewSpace', 'space', (by, id) => by.get(`/api/spaces/${id}`)],
    ['EditSpace', 'space', (by, id) => by.post(`/api/spaces/${id}/updateUsers`, { rolesandusers: {} })],
  ]
  const expected: Readonly<Record<string, number>> = { yes: 200, no: 403, unseen: 404 }
  let requested = 0
  for (const person of [ann, bob, cid, eve, fay, readOnly]) {
    for (const [permission, type, attempt] of tries) {
      for (const id of type === 'space' ? [lab] : [shared, own, shown]) {
        const { verdict } = await explained(superAdmin, { user: person.id, permission, type, id })
        const { status } = await attempt(person, id)
        t.is(status, expected[verdict] ?? 0, `${person.email} ${permission} ${id} ${verdict}`)
        requested += 1
      }
    }
  }
  t.is(requested, 84)
})

test('a permission that is open to everyone does not reveal that a resource exists', async t => {
  for (const id of [own, 'f'.repeat(24)]) t.is((await explain(cid, { permission: 'ViewGeoStream', type: 'dataset', id })).status, 404)
})

interface Held {
  readonly type: string
  readonly id: string
  readonly permissions: readonly string[]
}
const check = (by: Calls, body: object) => by.post('/api/permissions/check', body)
const held = async (by: Calls, body: object): Promise<readonly Held[]> => {
  const { status, body: answer } = await check(by, body)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(answer)}`)
  return answer as readonly Held[]
}

test('a check of many resources agrees with explanations of each permission', async t => {
  const names = ((await ann.get('/api/permissions')).body as readonly { name: string }[]).map(({ name }) => name)
  // The other accounts gain and lose rights in concurrent tests.
  const [eve, fay, gus] = [await somebody(server, 'eve'), await somebody(server, 'fay'), await somebody(server, 'gus')]
  await letIn(ann, lab, 'Editor', eve)
  await letIn(ann, lab, 'Viewer', gus)
  const resources = [onShared, { type: 'space', id: lab }, { type: 'dataset', id: own }, { type: 'user', id: gus.id }]
  for (const by of [ann, eve, fay]) {
    const answer = await held(by, { resources })
    t.deepEqual(
      answer.map(({ type, id }) => ({ type, id })),
      resources,
    )
    for (const { permissions, ...on } of answer) {
      const allowed: string[] = []
      for (const permission of names) {
        const { status, body } = await explain(by, { permission, ...on })
        if (status === 200 && (body as Explained).verdict === 'yes') allowed.push(permission)
      }
      t.deepEqual(permissions, allowed, `${on.type} ${on.id}`)
    }
  }
  t.deepEqual(await held(gus, { resources: [onShared], permissions: ['EditDataset', 'ViewDataset'] }), [
    { ...onShared, permissions: ['ViewDataset'] },
  ])
})

test('the caller has no permissions on unknown and invisible resources', async t => {
  for (const id of [own, 'f'.repeat(24), 'nonsense']) {
    for (const type of ['dataset', 'file']) t.deepEqual(await held(cid, { resources: [{ type, id }] }), [{ type, id, permissions: [] }])
  }
  t.is((await check(callsOf(server.as()), { resources: [onShared] })).status, 401)
})

test('a trashed dataset can be viewed, restored and deleted, but not changed', async t => {
  const dataset = await newDataset(ann)
  await ann.remove(`/api/datasets/${dataset}`)
  const permissions = ['EditDataset', 'ViewDataset', 'DeleteDataset', 'AddResourceToDataset']
  const [answer] = await held(ann, { resources: [{ type: 'dataset', id: dataset }], permissions })
  t.deepEqual(answer?.permissions, ['ViewDataset', 'DeleteDataset'])
})

test('1,000 resources of several types, duplicates too, are checked at once; more and unknown names are refused', async t => {
  const resources = Array.from({ length: 1000 }, (_, n) => (n % 2 === 0 ? onShared : { type: 'space', id: lab }))
  const answer = await held(ann, { resources, permissions: ['ViewSpace', 'ViewDataset'] })
  t.is(answer.length, 1000)
  t.true(answer.every(({ type, permissions }) => permissions.includes(type === 'space' ? 'ViewSpace' : 'ViewDataset')))
  t.is((await check(ann, { resources: [...resources, onShared] })).status, 400)
  t.is((await check(ann, { resources: [{ type: 'colour', id: lab }] })).status, 400)
  const { status, body } = await check(ann, { resources: [onShared], permissions: ['EditDatasets'] })
  t.is(status, 400)
  t.regex((body as { message: string }).message, /EditDataset/)
  t.deepEqual(await held(ann, { resources: [] }), [])
})
