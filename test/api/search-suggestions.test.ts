import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { newPerson, type Person } from '../support/people.ts'
import { newDataset, ok, upload } from '../support/scene.ts'
import { meet } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'

interface Progress {
  readonly state: string
  readonly count: number
  readonly total: number | null
  readonly problem: string | null
}

let server: TestServer
let ann: Person
let eve: Person
let dataset: string
let collection: string

const annotate = async (person: Person, name: string, content: unknown, tags: readonly string[], into: string): Promise<string> => {
  const file = await upload(person.call, into, 'x', name)
  const agent = { '@type': 'cat:user', user_id: 'https://example.org/u', name: 'U' }
  await ok(person.call(`/api/files/${file}/metadata.jsonld`, { method: 'POST', json: { agent, content } }))
  if (tags.length > 0) await ok(person.call(`/api/files/${file}/tags`, { method: 'POST', json: { tags } }))
  return file
}

test.before(async () => {
  server = await bootForTest({ config: { access: { private: true } } })
  ann = await newPerson(server, 'ann')
  eve = await newPerson(server, 'eve')
  dataset = await newDataset(ann.call, { name: 'Mine' })
  collection = (await ok<{ id: string }>(ann.call('/api/collections', { method: 'POST', json: { name: 'Shelf', description: '' } }))).id
  await ok(ann.call(`/api/collections/${collection}/datasets/${dataset}`, { method: 'POST' }))
  await annotate(ann, 'a.txt', { site: { label: 'Secret marsh' }, depth: 1, when: '2021-04-19' }, ['secret', 'reed'], dataset)
  await annotate(ann, 'b.txt', { site: { label: 'secret Marsh' }, depth: '1.0' }, ['reed'], dataset)
  const open = await newDataset(eve.call, { name: 'Hers' })
  await annotate(eve, 'c.txt', { site: { label: 'Meadow' }, height: 2 }, ['reed'], open)
  await server.drained()
})
test.after.always(() => server?.stop())

const get = <T>(person: Person, path: string): Promise<T> => ok<T>(person.call(path))

test.serial('fields of visible resources are suggested with counts', async t => {
  const fields = (person: Person, query = '') => get<unknown>(person, `/api/search/fields?${query}`)
  t.deepEqual(await fields(ann), [
    { field: 'depth', count: 2 },
    { field: 'site.label', count: 2 },
    { field: 'when', count: 1 },
  ])
  t.deepEqual(await fields(ann, 'prefix=LAB'), [{ field: 'site.label', count: 2 }])
  t.deepEqual(await fields(ann, 'prefix=metadata.de&limit=1'), [{ field: 'depth', count: 2 }])
  t.deepEqual(await fields(eve), [
    { field: 'height', count: 1 },
    { field: 'site.label', count: 1 },
  ])
  t.deepEqual(await get(eve, '/api/metadata/autocompletenames?filter=h'), ['metadata.height'])
})

test.serial('values of visible resources are suggested with counts', async t => {
  const values = (person: Person, query: string) => get<readonly { value: unknown; count: number }[]>(person, `/api/search/values?${query}`)
  const [marsh, ...others] = await values(ann, 'field=label')
  t.like(marsh, { count: 2 })
  t.is(String(marsh?.value).toLowerCase(), 'secret marsh')
  t.deepEqual(others, [])
  t.deepEqual(await values(ann, 'field=metadata.depth'), [{ value: 1, count: 2 }])
  t.deepEqual(await values(ann, 'field=when&prefix=2021'), [{ value: '2021-04-19T00:00:00.000Z', count: 1 }])
  t.deepEqual(await values(ann, 'field=tag&prefix=s'), [{ value: 'secret', count: 1 }])
  t.deepEqual(await values(eve, 'field=label&prefix=secret'), [])
  t.deepEqual(await values(eve, 'field=label'), [{ value: 'Meadow', count: 1 }])
  t.is((await ann.call('/api/search/values?field=email')).status, 400)
  t.is((await ann.call('/api/search/values')).status, 400)
})

test.serial('a metadata field that has the name of another field is suggested with its prefix', async t => {
  await annotate(ann, 'd.txt', { part: { comment: 'zonal' }, name: 'Zoë' }, [], await newDataset(ann.call, { name: 'Named' }))
  await server.drained()
  t.deepEqual(await get(ann, '/api/search/fields?prefix=name'), [{ field: 'metadata.name', count: 1 }])
  t.deepEqual(await get(ann, '/api/search/fields?prefix=comment'), [{ field: 'part.comment', count: 1 }])
  t.deepEqual(await get(ann, '/api/search/values?field=metadata.name'), [{ value: 'Zoë', count: 1 }])
  t.deepEqual(await get(ann, '/api/metadata/autocompletenames?filter=na'), ['metadata.name'])
})

test.serial('tags of visible resources are listed with counts', async t => {
  t.deepEqual(await get(ann, '/api/tags'), [
    { name: 'reed', count: 2 },
    { name: 'secret', count: 1 },
  ])
  t.deepEqual(await get(eve, '/api/tags?prefix=RE'), [{ name: 'reed', count: 1 }])
  t.deepEqual(await get(eve, '/api/tags?limit=10000'), [{ name: 'reed', count: 1 }])
  t.is((await ann.call('/api/tags?limit=10001')).status, 400)
  t.is((await server.as()('/api/tags')).status, 401)
})

test.serial('members of a space see the tags of its resources until they leave', async t => {
  const space = await ok<{ id: string }>(ann.call('/api/spaces', { method: 'POST', json: { name: 'Wetlands', description: '' } }))
  const shared = await newDataset(ann.call, { name: 'Shared', space: [space.id] })
  await ok(ann.call(`/api/datasets/${shared}/tags`, { method: 'POST', json: { tags: ['Sedge', 'sedge 2'] } }))
  await server.drained()
  const seen = (query = '') => get(eve, `/api/tags?prefix=sedge${query}`)
  t.deepEqual(await seen(), [])
  await meet(server, ann, eve)
  await ok(ann.call(`/api/spaces/${space.id}/updateUsers`, { method: 'POST', json: { rolesandusers: { Viewer: eve.id } } }))
  t.deepEqual(await seen('&kind=dataset'), [
    { name: 'Sedge', count: 1 },
    { name: 'sedge 2', count: 1 },
  ])
  t.deepEqual(await seen('&kind=file'), [])
  await ok(ann.call(`/api/datasets/${shared}/tags`, { method: 'DELETE', json: { tags: ['Sedge'] } }))
  await server.drained()
  t.deepEqual(await seen(), [{ name: 'sedge 2', count: 1 }])
  await ok(ann.call(`/api/spaces/${space.id}/removeUser?removeUser=${eve.id}`, { method: 'POST' }))
  t.deepEqual(await seen(), [])
  await ok(ann.call(`/api/datasets/${shared}`, { method: 'DELETE' }))
  await server.drained()
  t.deepEqual(await get(ann, '/api/tags?prefix=sedge'), [])
})

const ended = (person: Person, path: string): Promise<Progress> =>
  until(
    `the end of ${path}`,
    () => get<Progress>(person, path),
    ({ state }) => state === 'done' || state === 'failed',
  )

test.serial('a single resource is reindexed with its contents, and its progress is reported', async t => {
  const admin = server.as(server.admin.key)
  await ok(admin('/api/deleteindex', { method: 'POST' }))
  const count = async (): Promise<number> => (await get<{ count: number }>(ann, '/api/search?query=')).count
  t.is(await count(), 0)
  t.like(await get<Progress>(ann, `/api/datasets/${dataset}/reindex`), { state: 'never', total: null })
  const reindex = (path: string) => ok<{ status: string }>(ann.call(path, { method: 'POST' }))
  t.deepEqual(await reindex(`/api/datasets/${dataset}/reindex?recursive=false`), { status: 'reindex successfully queued' })
  t.like(await ended(ann, `/api/datasets/${dataset}/reindex`), { state: 'done', count: 1, total: 1, problem: null })
  t.is(await count(), 1)
  await reindex(`/api/collections/${collection}/reindex?recursive=true`)
  t.like(await ended(ann, `/api/collections/${collection}/reindex`), { state: 'done', count: 4, total: 4 })
  t.is(await count(), 4)
  t.is((await eve.call(`/api/datasets/${dataset}/reindex`, { method: 'POST' })).status, 404)
  t.is((await eve.call(`/api/datasets/${dataset}/reindex`)).status, 404)
  t.is((await ann.call('/api/reindex')).status, 403)
  await ok(admin('/api/reindex', { method: 'POST' }))
  await ok(admin('/api/reindex', { method: 'POST' }))
  const whole = await ended({ ...ann, call: admin }, '/api/reindex')
  t.like(whole, { state: 'done', problem: null })
  t.true(whole.count >= 4 && whole.count === whole.total)
})

test.serial('on a public server, only the owner of a file in no dataset finds it in searches and suggestions', async t => {
  const open = await bootForTest()
  t.teardown(() => open.stop())
  const owner = await newPerson(open, 'owner')
  const other = await newPerson(open, 'other')
  const anonymous = async (path: string): Promise<unknown> => (await fetch(open.url + path)).json()
  const place = await newDataset(owner.call, { name: 'Open' })
  await annotate(owner, 'shown.txt', { height: 1 }, ['reed'], place)
  const form = new FormData()
  form.append('File', new Blob(['x']), 'hidden.txt')
  const { id } = await ok<{ id: string }>(owner.call('/api/files', { method: 'POST', body: form }))
  const agent = { '@type': 'cat:user', user_id: 'https://example.org/u', name: 'U' }
  await ok(owner.call(`/api/files/${id}/metadata.jsonld`, { method: 'POST', json: { agent, content: { burrow: 'otter' } } }))
  await ok(owner.call(`/api/files/${id}/tags`, { method: 'POST', json: { tags: ['holt'] } }))
  await open.drained()
  const byOther = (path: string) => get<unknown>(other, path)
  for (const see of [anonymous, byOther]) {
    t.deepEqual(await see('/api/search/fields'), [{ field: 'height', count: 1 }])
    t.deepEqual(await see('/api/search/values?field=burrow'), [])
    t.deepEqual(await see('/api/metadata/autocompletenames?filter=b'), [])
    t.deepEqual(await see('/api/tags'), [{ name: 'reed', count: 1 }])
    t.like(await see('/api/search?query=otter'), { count: 0, scanned_size: 0, total_size: 0 })
    t.like(await see('/api/search?query=otter%20OR%20shown&size=1'), { count: 1, scanned_size: 1, total_size: 1 })
    t.like(await see('/api/search?resource_type=file&size=0&facets=tag'), { total_size: 1, facets: { tag: [{ value: 'reed', count: 1 }] } })
  }
  t.deepEqual(await get(owner, '/api/search/values?field=burrow'), [{ value: 'otter', count: 1 }])
  t.deepEqual(await get(owner, '/api/tags'), [
    { name: 'holt', count: 1 },
    { name: 'reed', count: 1 },
  ])
  t.like(await get(owner, '/api/search?query=otter'), { count: 1, scanned_size: 1, total_size: 1 })
  t.like(await get(owner, '/api/search/quick?prefix=hid'), { files: [{ id, name: 'hidden.txt' }] })
})
