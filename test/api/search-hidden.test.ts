import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { newFolder, ok, upload } from '../support/scene.ts'
import { newCollection, newDataset, type Somebody, somebody } from '../support/spaces-and-people.ts'

let server: TestServer
let alice: Somebody
let bob: Somebody

test.before(async () => {
  server = await bootForTest({ config: { access: { private: true } } })
  alice = await somebody(server, 'alice')
  bob = await somebody(server, 'bob')
})
test.after.always(() => server?.stop())

const annotate = (person: Somebody, path: string, content: unknown) =>
  person.post(`${path}/metadata.jsonld`, { agent: { '@type': 'cat:user', user_id: 'https://example.org/u', name: 'U' }, content })

interface Result {
  readonly results: readonly ({ readonly name: string } | { readonly collectionname: string })[]
}

const answer = (person: Somebody, query: string, more = '') => person.call(`/api/search?query=${encodeURIComponent(query)}${more}`)
const found = async (person: Somebody, query: string, more = ''): Promise<string> => {
  await server.drained()
  const { results } = await ok<Result>(answer(person, query, more))
  return results.map(item => ('name' in item ? item.name : item.collectionname)).join(' ')
}

test('hidden metadata and words do not prevent a search for a field or a pattern', async t => {
  const file = await upload(bob.call, await newDataset(bob, { name: 'lagoon' }), 'x', 'brine.txt')
  await annotate(bob, `/api/files/${file}`, { salinity: 12, code: 'brinezzyx' })
  const hidden = await newDataset(alice, { name: 'secret' })
  const samples = Array.from({ length: 501 }, (_, n) => [`sample${n}`, { salinity: n }] as const)
  await annotate(alice, `/api/datasets/${hidden}`, Object.fromEntries(samples))
  const codes = Array.from({ length: 1050 }, (_, n) => `q${n}zzyx`)
  await annotate(alice, `/api/datasets/${await newDataset(alice, { name: 'secret' })}`, { codes })
  await annotate(alice, `/api/datasets/${await newDataset(alice, { name: 'secret' })}`, {
    codes: codes.map(code => `${code.slice(0, -4)}bzzyx`),
  })
  const queries = ['salinity>5', 'metadata.salinity:12', 'salinity:1*', 'exists:salinity', '*zzyx', '/zzyx/']
  for (const query of queries) t.is(await found(bob, query), 'brine.txt', query)
  t.is(await found(bob, 'missing:salinity name:lagoon'), 'lagoon')
  t.is(await found(bob, 'brine', '&sort=salinity'), 'brine.txt')
  t.deepEqual(await ok(bob.call('/api/search/values?field=salinity')), [{ value: 12, count: 1 }])
})

test('whether results can be sorted by a field does not depend on hidden resources', async t => {
  await newDataset(bob, { name: 'marsh' })
  const statuses = async () => {
    await server.drained()
    return [(await answer(bob, 'marsh', '&sort=dose')).status, (await answer(bob, 'absent', '&sort=dose')).status]
  }
  const before = await statuses()
  await annotate(alice, `/api/datasets/${await newDataset(alice, { name: 'secret' })}`, { dose: 3 })
  t.deepEqual(await statuses(), before)
  t.is(before[0], 400)
})

test('the order of hits does not depend on annotations that the caller may not view', async t => {
  const carol = await somebody(server, 'carol')
  const role = { name: 'Without annotations', description: '', permissions: ['ViewSpace', 'ViewDataset', 'ViewFile'] }
  await ok(carol.asAdmin('/api/roles', { method: 'POST', json: role }))
  const space = await ok<{ id: string }>(alice.call('/api/spaces', { method: 'POST', json: { name: 'Coast', description: '' } }))
  await ok(alice.call(`/api/spaces/${space.id}/updateUsers`, { method: 'POST', json: { rolesandusers: { [role.name]: carol.id } } }))
  const annotated = await newDataset(alice, { name: 'sandbank-1', space: [space.id] })
  await newDataset(alice, { name: 'sandbank-2', space: [space.id] })
  const query = 'sandbank OR plover'
  t.is(await found(carol, query), 'sandbank-2 sandbank-1')
  await alice.post(`/api/datasets/${annotated}/comment`, { text: 'plover' })
  await annotate(alice, `/api/datasets/${annotated}`, { species: 'plover' })
  t.is(await found(alice, query), 'sandbank-1 sandbank-2')
  t.is(await found(carol, query), 'sandbank-2 sandbank-1')
})

test('the content of a container is found only by callers who may view it, and not while it is in the trash', async t => {
  const space = await ok<{ id: string }>(alice.call('/api/spaces', { method: 'POST', json: { name: 'Shared', description: '' } }))
  await ok(alice.call(`/api/spaces/${space.id}/updateUsers`, { method: 'POST', json: { rolesandusers: { Viewer: bob.id } } }))
  const [shared, own] = [await newDataset(alice, { name: 'open', space: [space.id] }), await newDataset(alice, { name: 'closed' })]
  const folder = await newFolder(alice.call, own, 'drawer')
  const file = await upload(alice.call, own, 'x', 'heron.txt', { query: `extract=false&folder_id=${folder}` })
  await ok(alice.call(`/api/datasets/${shared}/files/${file}`, { method: 'POST' }))
  for (const [id, seen] of [
    [space.id, 'heron.txt'],
    [shared, 'heron.txt'],
    [own, ''],
    [folder, ''],
  ] as const) {
    for (const query of [`in:${id}`, `in==${id}`, `in:"${id}"`]) {
      t.is(await found(alice, `heron ${query}`), 'heron.txt', query)
      t.is(await found(bob, `heron ${query}`), seen, query)
    }
  }
  t.is(await found(bob, 'heron', `&datasetid=${own}`), '')
  t.is(await found(bob, `heron in:${own}|${shared}`), 'heron.txt')
  t.is(await found(bob, `heron in!=${own}`), 'heron.txt')
  const [outer, inner] = [await newCollection(alice, { name: 'outer' }), await newCollection(alice, { name: 'inner' })]
  await alice.post(`/api/collections/${outer}/addSubCollection/${inner}`)
  t.is(await found(alice, `in:${outer}`), 'inner')
  await ok(alice.call(`/api/collections/${outer}`, { method: 'DELETE' }))
  t.is(await found(alice, `in:${outer}`), '')
})
