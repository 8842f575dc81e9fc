import test from 'ava'
import { anonymousUserId } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { callsOf } from '../support/calls.ts'
import { upload } from '../support/scene.ts'
import { newDataset, somebody } from '../support/spaces-and-people.ts'

const commKey = 'a communication key of this test'
const server = await bootForTest({ config: { resources: { users: { commKey } } } })
const ann = await somebody(server, 'ann')
const extractor = callsOf(server.as(commKey))
test.after.always(() => server.stop())

test('what requires an account is refused to the communication key by name', async t => {
  const dataset = await newDataset(ann)
  const file = await upload(ann.call, dataset)
  const refused = { status: 403, body: { code: 'forbidden', message: 'The communication key has no account: send an API key of a user' } }
  for (const [path, body] of [
    ['datasets/createempty', { name: 'a' }],
    [`datasets/${dataset}/newFolder`, { name: 'a', parentId: dataset, parentType: 'dataset' }],
    [`files/${file}/follow`, {}],
  ] as const)
    t.like(await extractor.post(`/api/${path}`, body), refused, path)
  for (const path of ['datasets/listTrash', 'events', 'tree/getChildrenOfNode?nodeType=root'])
    t.like(await extractor.get(`/api/${path}`), refused, path)
})

test('a refusal names the communication key, which has no owner', async t => {
  const { status, body } = await extractor.remove(`/api/datasets/${await newDataset(ann)}`)
  const message = 'Permission denied on the dataset: DeleteDataset required (the communication key has only the rights of extractors)'
  t.like({ status, body }, { status: 403, body: { code: 'forbidden', message } })
})

test('metadata and files sent with the communication key have the anonymous user as author', async t => {
  const dataset = await newDataset(ann)
  const user = `${server.url}/api/users/${anonymousUserId}`
  const form = new FormData()
  form.append('File', new Blob(['x']), 'a.txt')
  form.append('a.txt', JSON.stringify({ depth: 3 }))
  const sent = await server.as(commKey)(`/api/uploadToDataset/${dataset}?extract=false`, { method: 'POST', body: form })
  const { id } = (await sent.json()) as { id: string }
  t.is((await extractor.post('/api/metadata.jsonld', { file_id: id, content: { depth: 4 } })).status, 200)
  const { body } = await ann.get(`/api/files/${id}/metadata.jsonld`)
  const agents = (body as { agent: unknown }[]).map(({ agent }) => agent)
  const anonymous = { '@type': 'cat:user', name: 'Unknown', user_id: user }
  t.deepEqual(agents, [anonymous, anonymous])
  t.like((await ann.get(`/api/files/${id}/metadata`)).body, { authorId: anonymousUserId })
})
