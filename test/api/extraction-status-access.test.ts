import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { type Calls, callsOf } from '../support/calls.ts'
import { declaredRoutes } from '../support/declared-routes.ts'
import { extracted } from '../support/extracted.ts'
import { unknownId, upload } from '../support/scene.ts'
import { newDataset, type Somebody, somebody } from '../support/spaces-and-people.ts'

let server: TestServer
let nobody: Calls
let ann: Somebody
let stranger: Somebody

test.before(async () => {
  server = await bootForTest({ config: { access: { private: true } } })
  nobody = callsOf(server.as())
  ann = await somebody(server, 'ann')
  stranger = await somebody(server, 'stranger')
})
test.after.always(() => server?.stop())

const newFile = async (access: 'PUBLIC' | 'PRIVATE'): Promise<string> => {
  const dataset = await newDataset(ann)
  await ann.put(`/api/datasets/${dataset}/access?access=${access}`)
  const file = await upload(ann.call, dataset, 'one two', 'words.txt', { query: '' })
  await extracted(ann.call, file)
  return file
}

test('on a private server, anonymous callers see the extractions of a public file, like its metadata', async t => {
  const [shown, hidden] = [await newFile('PUBLIC'), await newFile('PRIVATE')]
  const { status, body } = await nobody.get(`/api/extractions/${shown}/status`)
  t.is(status, 200)
  t.like(body, { 'pounce.text': 'DONE', Status: 'Done' })
  for (const path of [`/api/extractions/${hidden}/status`, `/api/extractions/${unknownId}/status`, `/api/files/${hidden}/metadata`])
    t.is((await nobody.get(path)).status, 401, path)
  t.deepEqual(await stranger.get(`/api/extractions/${hidden}/status`).then(({ status, body }) => [status, body]), [200, 'no file'])
})

/** Routes that require more than the right to view a file. */
const notForAll = new Set([
  '/api/files/{id}',
  '/api/files/{id}/blob',
  '/files/{id}/blob',
  '/api/files/{id}/links',
  '/api/files/{id}/metadataDefinitions',
  '/api/files/{id}/reindex',
])

test('every read route of a public file is open to callers who may read its metadata', async t => {
  const file = await newFile('PUBLIC')
  const routes = (await declaredRoutes(server)).filter(
    ({ method, path }) =>
      method === 'GET' && /^(?:\/api)?\/(?:files|extractions)\/\{\w+\}(?:\/[^{}]*)?$/.test(path) && !notForAll.has(path),
  )
  const answers = await Promise.all(routes.map(async ({ path }) => `${(await nobody.get(path.replace(/\{\w+\}/, file))).status} ${path}`))
  t.deepEqual(
    answers.filter(answer => !answer.startsWith('200')),
    [],
  )
  t.true(routes.length > 15, String(routes.length))
})
