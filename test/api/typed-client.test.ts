import { createHash } from 'node:crypto'
import test from 'ava'
import { CallFailed, clientOf } from 'pounce/sdk/kit'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import * as datasetFileRoutes from '../../plugins/resources/dataset-files/routes.ts'
import * as datasetRoutes from '../../plugins/resources/datasets/routes.ts'
import * as editRoutes from '../../plugins/resources/datasets/routes-edit.ts'
import * as downloadRoutes from '../../plugins/resources/downloads/routes-datasets.ts'
import * as fileRoutes from '../../plugins/resources/files/routes.ts'
import * as uploadRoutes from '../../plugins/resources/files/routes-upload.ts'
import * as folderRoutes from '../../plugins/resources/folders/routes.ts'
import * as metadataRoutes from '../../plugins/resources/metadata/routes.ts'
import * as searchRoutes from '../../plugins/resources/search/routes.ts'
import * as tagRoutes from '../../plugins/resources/tags/routes.ts'
import * as keyRoutes from '../../plugins/resources/users/keys/routes-keys.ts'
import { newPerson } from '../support/people.ts'
import { formWith, unknownId } from '../support/scene.ts'

const routes = {
  ...datasetFileRoutes,
  ...downloadRoutes,
  ...datasetRoutes,
  ...editRoutes,
  ...fileRoutes,
  ...uploadRoutes,
  ...folderRoutes,
  ...metadataRoutes,
  ...searchRoutes,
  ...tagRoutes,
  ...keyRoutes,
}

let server: TestServer

test.before(async () => {
  server = await bootForTest({ config: { access: { private: true } } })
})
test.after.always(() => server?.stop())

const clientWith = (key?: string) => clientOf(routes, { url: server.url, ...(key === undefined ? {} : { key }) })
const personsClient = async () => clientWith((await newPerson(server)).key)
type Client = Awaited<ReturnType<typeof personsClient>>

const refusalOf = async (call: Promise<unknown>) => {
  const failure = await call.then(
    () => undefined,
    (error: unknown) => error,
  )
  return failure instanceof CallFailed ? { status: failure.status, code: failure.code } : failure
}

const newDataset = async (client: Client, name = 'Leaves'): Promise<string> =>
  (await client.createEmptyDataset({ body: { name, description: 'Beech stand 4' } })).body.id

const uploaded = async (client: Client, id: string, bytes: string | Uint8Array, name: string, folder?: string): Promise<string> => {
  const query = { extract: false, ...(folder === undefined ? {} : { folder_id: folder }) }
  const { body } = await client.uploadToDataset({ params: { id }, query, body: formWith(bytes, name) })
  if (!('id' in body)) throw new Error('one file was sent')
  return body.id
}

test('typed calls cover the main workflow: create, upload, describe, search, download, delete', async t => {
  const client = await personsClient()
  const id = await newDataset(client, 'Übersicht – 観測')
  const { body: folder } = await client.createFolder({ params: { id }, body: { name: 'raw', parentId: id, parentType: 'dataset' } })
  const bytes = Buffer.alloc(200_000, 'leaf 🍂 ')
  const top = await uploaded(client, id, bytes, 'größe 葉.txt')
  const deep = await uploaded(client, id, 'x', 'deep.txt', folder.id)

  const content = { species: 'Fagus sylvatica', heightMetres: 31.5 }
  const agent = { '@type': 'cat:user', name: 'Ann', user_id: 'https://example.org/people/ann' }
  await client.addFileMetadata({ params: { id: top }, body: { agent, content } })
  const { body: documents } = await client.getFileMetadata({ params: { id: top } })
  t.deepEqual(
    documents.map(each => each.content),
    [content],
  )
  await client.renameDataset({ params: { id }, body: { name: 'Overview' } })
  t.is((await client.getDataset({ params: { id } })).body.name, 'Overview')

  const { body: files } = await client.listDatasetFiles({ params: { id } })
  t.deepEqual(Array.isArray(files) ? files.map(file => [file.id, file.folders?.name]) : files, [
    [top, undefined],
    [deep, 'raw'],
  ])
  await server.drained()
  const { body: found } = await client.search({ query: { query: 'species:Fagus heightMetres>30', resource_type: 'file' } })
  t.deepEqual(
    found.results.map(hit => hit['id']),
    [top],
  )

  const { body: download, headers } = await client.getFile({ params: { id: top }, query: { tracking: false } })
  t.deepEqual(Buffer.from(await download.arrayBuffer()), bytes)
  t.is(headers.get('repr-digest'), `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`)
  const part = await client.getFile({ params: { id: top }, headers: { range: 'bytes=0-3' } })
  t.is(await part.body.text(), 'leaf')

  await client.deleteFile({ params: { id: top } })
  t.deepEqual(await refusalOf(client.getFileInfo({ params: { id: top } })), { status: 404, code: 'not-found' })
})

test('one call returns rows or their count, each typed', async t => {
  const client = await personsClient()
  const id = await newDataset(client)
  for (const name of ['a.txt', 'b.txt']) await uploaded(client, id, 'x', name)
  const { body: rows } = await client.listRootFiles({ params: { id } })
  t.deepEqual(typeof rows === 'number' ? rows : rows.map(({ filename }) => filename), ['a.txt', 'b.txt'])
  t.is((await client.listRootFiles({ params: { id }, query: { count: true } })).body, 2)
})

test('queries are sent as declared: numbers, and text with special characters', async t => {
  const client = await personsClient()
  for (const name of ['Wälder & Wiesen?', '100 % #1', 'plain']) await newDataset(client, name)
  const titles = async (title: string) => {
    const { body } = await client.listDatasets({ query: { title, limit: 5 } })
    return body.map(({ name }) => name)
  }
  t.deepEqual(await titles('Wälder & Wiesen?'), ['Wälder & Wiesen?'])
  t.deepEqual(await titles('100 % #1'), ['100 % #1'])
  t.is((await client.listDatasets({ query: { limit: 2 } })).body.length, 2)
})

test('refusals are thrown with status and code, for any caller', async t => {
  const [ann, eve] = [await personsClient(), await personsClient()]
  const id = await newDataset(ann)
  t.deepEqual(await refusalOf(eve.getDataset({ params: { id } })), { status: 404, code: 'not-found' })
  t.deepEqual(await refusalOf(ann.getDataset({ params: { id: unknownId } })), { status: 404, code: 'not-found' })
  t.deepEqual(await refusalOf(ann.getDataset({ params: { id: '../../admin' } })), { status: 404, code: 'not-found' })
  t.deepEqual(await refusalOf(clientWith().getDataset({ params: { id } })), { status: 401, code: 'not-signed-in' })
  t.deepEqual(await refusalOf(clientWith('wrong').getDataset({ params: { id } })), { status: 401, code: 'not-signed-in' })
  t.deepEqual(await refusalOf(ann.renameDataset({ params: { id }, body: { name: '' } })), { status: 400, code: 'invalid' })
  t.is((await ann.getDataset({ params: { id } })).body.name, 'Leaves')
})

test('a key created by a call is valid in another client until it is deleted', async t => {
  const client = await personsClient()
  const { body } = await client.createKey({ query: { name: 'script' } })
  const script = clientWith(body.key)
  const id = await newDataset(script)
  t.is((await client.getDataset({ params: { id } })).status, 200)
  await client.deleteKey({ params: { name: 'script' } })
  t.deepEqual(await refusalOf(script.getDataset({ params: { id } })), { status: 401, code: 'not-signed-in' })
})

test('an aborted call ends at once', async t => {
  const client = await personsClient()
  const id = await newDataset(client)
  const failure = await t.throwsAsync(client.getDataset({ params: { id }, signal: AbortSignal.abort() }))
  t.is(failure?.name, 'AbortError')
})
