import { join } from 'node:path'
import test from 'ava'
import { definePlugin, provide, type StatusPart, StatusParts } from 'pounce/sdk'
import { maskedUri } from 'pounce/sdk/kit'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { newPerson, type Person } from '../support/people.ts'
import { newDataset, newFolder, ok, unknownId, upload } from '../support/scene.ts'

let server: TestServer
let ann: Person
let eve: Person

test.before(async () => {
  server = await bootForTest({ config: { access: { private: true } } })
  ann = await newPerson(server, 'ann')
  eve = await newPerson(server, 'eve')
})
test.after.always(() => server?.stop())

interface Node {
  readonly id: string
  readonly name: string
  readonly type?: string
  readonly children: boolean
  readonly data: Record<string, unknown>
}

const nodes = (person: Person, query: string): Promise<Node[]> => ok<Node[]>(person.call(`/api/tree/getChildrenOfNode?${query}`))

test('the version is public', async t => {
  const { version } = await ok<{ version: { number: string } }>(server.as()('/api/version'))
  t.regex(version.number, /^\d+\.\d+\.\d+/)
})

test('totals follow changes and equal a recount', async t => {
  const other = await bootForTest({ t })
  const bob = await newPerson(other, 'bob')
  const counts = async () => {
    await other.drained()
    return (await ok<{ counts: Record<string, number> }>(other.as()('/api/status'))).counts
  }
  t.deepEqual(await counts(), { spaces: 0, collections: 0, datasets: 0, files: 0, bytes: 0, users: 2 })
  await ok(bob.call('/api/spaces', { method: 'POST', json: { name: 'S', description: '' } }))
  const { id: collection } = await ok<{ id: string }>(
    bob.call('/api/collections', { method: 'POST', json: { name: 'C', description: '' } }),
  )
  const dataset = await newDataset(bob.call)
  const file = await upload(bob.call, dataset, '12345')
  await upload(bob.call, dataset, '123')
  t.deepEqual(await counts(), { spaces: 1, collections: 1, datasets: 1, files: 2, bytes: 8, users: 2 })
  await ok(bob.call(`/api/files/${file}`, { method: 'DELETE' }))
  await ok(bob.call(`/api/datasets/${dataset}`, { method: 'DELETE' }))
  t.like(await counts(), { datasets: 0, files: 1, bytes: 3 })
  await ok(bob.call(`/api/datasets/${dataset}`, { method: 'DELETE' }))
  await ok(bob.call(`/api/collections/${collection}`, { method: 'DELETE' }))
  await ok(bob.call(`/api/collections/${collection}`, { method: 'DELETE' }))
  t.deepEqual(await counts(), { spaces: 1, collections: 0, datasets: 0, files: 0, bytes: 0, users: 2 })
})

test('only server admins see where data is stored', async t => {
  const { storage } = await ok<{ storage: Record<string, string> }>(ann.call('/api/status'))
  t.deepEqual(storage, { location: 'disk' })
  t.like(await ok(server.as(server.admin.key)('/api/status')), { storage: { path: join(server.folder, 'blobs') } })
})

class SilentPart implements StatusPart {
  readonly name = 'mongo'
  readonly isPlain = true
  readonly details = { uri: maskedUri('mongodb://me:hunter22@one,two/?password=hunter22') }
  check(): Promise<undefined> {
    return new Promise(() => undefined)
  }
}
class BrokenPart implements StatusPart {
  readonly name = 'rabbitmq'
  readonly details = { uri: maskedUri('amqp://me:hunter22@broker/vhost'), exchange: 'clowder' }
  async check(): Promise<undefined> {
    throw new Error('refused')
  }
}

class ThrowingPart implements StatusPart {
  readonly name = 'throwing'
  check(): never {
    throw new Error('not even a promise')
  }
}

test('unavailable parts are reported, without passwords, and block no response', async t => {
  const parts = definePlugin({
    id: 'test.parts',
    summary: 'Parts',
    provides: [SilentPart, BrokenPart, ThrowingPart].map(part => provide(StatusParts, part)),
  })
  const other = await bootForTest({ t, also: [parts] })
  const { plugins } = await ok<{ plugins: Record<string, unknown> }>(other.as()('/api/status'))
  t.like(plugins, { mongo: false, rabbitmq: { status: 'disconnected' }, throwing: { status: 'disconnected' } })
  t.deepEqual(plugins['rabbitmq'], { status: 'disconnected' })
  const forAdmin = await ok<{ plugins: object }>(other.as(other.admin.key)('/api/status'))
  t.like(forAdmin.plugins, {
    mongo: { status: 'disconnected', uri: 'mongodb://me:***@one,two/' },
    rabbitmq: { status: 'disconnected', uri: 'amqp://me:***@broker/vhost', exchange: 'clowder' },
  })
  t.false(JSON.stringify(forAdmin).includes('hunter22'))
})

test('the tree leads from the root to a file', async t => {
  const { id: space } = await ok<{ id: string }>(ann.call('/api/spaces', { method: 'POST', json: { name: 'Site', description: '' } }))
  const dataset = await newDataset(ann.call, { name: 'Plots', space: [space] })
  const folder = await newFolder(ann.call, dataset, 'raw')
  const file = await upload(ann.call, dataset, 'x', 'x.txt', { query: `extract=false&folder_id=${folder}` })
  const root = await nodes(ann, 'nodeType=root')
  t.like(
    root.find(node => node.id === space),
    { name: 'Site', type: 'space', children: true },
  )
  t.like((await nodes(ann, `nodeType=space&nodeId=${space}`))[0], { id: dataset, name: 'Plots', type: 'dataset' })
  const [below] = await nodes(ann, `nodeType=dataset&nodeId=${dataset}`)
  t.like(below, { id: folder, name: 'raw', children: true, data: { type: 'folder', parentDataset: dataset } })
  t.like((await nodes(ann, `nodeType=folder&nodeId=${folder}`))[0], { id: file, name: 'x.txt', type: 'file', children: false })
})

test('the tree is read page by page', async t => {
  const dataset = await newDataset(ann.call, { name: 'Many' })
  for (const name of ['c', 'a', 'b']) await newFolder(ann.call, dataset, name)
  for (const name of ['y.txt', 'x.txt']) await upload(ann.call, dataset, 'x', name)
  const seen: string[] = []
  let path: string | undefined = `/api/tree/getChildrenOfNode?nodeType=dataset&nodeId=${dataset}&limit=2`
  while (path) {
    const page: Response = await ann.call(path)
    const found = (await page.json()) as Node[]
    t.true(found.length <= 2)
    seen.push(...found.map(node => node.name))
    path = /<[^>]*(\/api\/[^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1]
  }
  t.deepEqual(seen, ['a', 'b', 'c', 'x.txt', 'y.txt'])
})

test('children of invisible resources are not listed', async t => {
  const dataset = await newDataset(ann.call, { name: 'Hidden' })
  for (const id of [dataset, unknownId, 'nonsense'])
    t.is((await eve.call(`/api/tree/getChildrenOfNode?nodeType=dataset&nodeId=${id}`)).status, 404)
  t.is((await eve.call('/api/tree/getChildrenOfNode?nodeType=dataset')).status, 400)
  t.is((await eve.call('/api/tree/getChildrenOfNode?nodeType=planet')).status, 400)
  t.is((await eve.call('/api/tree/getChildrenOfNode?nodeType=root&after=forged')).status, 400)
  t.is((await server.as()('/api/tree/getChildrenOfNode?nodeType=root')).status, 401)
  t.false((await nodes(eve, 'nodeType=root')).some(node => node.id === dataset))
})
