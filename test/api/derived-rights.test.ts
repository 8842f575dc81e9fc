import test, { type ExecutionContext } from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { previewOf, say, sectionOf, thumbnailOf } from '../support/derived.ts'
import { newDataset, newFolder, ok, upload } from '../support/scene.ts'
import { letIn, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'

let server: TestServer
let ann: Somebody
let member: Somebody

test.before(async () => {
  server = await bootForTest({ config: { access: { private: true } } })
  ann = await somebody(server, 'ann')
  member = await somebody(server, 'member')
})
test.after.always(() => server?.stop())

let made = 0

/** A dataset in a space with two members, and the paths of all resources attached to one of its files. */
const scene = async () => {
  made += 1
  const word = `zqderived${made}x`
  const space = await newSpace(ann)
  await letIn(ann, space, 'Viewer', member)
  const dataset = await newDataset(ann.call, { name: word, space: [space] })
  const folder = await newFolder(ann.call, dataset, word)
  const file = await upload(ann.call, dataset, word, `${word}.txt`, { query: `extract=false&folder_id=${folder}` })
  await ann.post(`/api/files/${file}/license`, {
    licenseType: 'license1',
    rightsHolder: '',
    licenseText: '',
    licenseUrl: '',
    allowDownload: true,
  })
  const section = await sectionOf(ann, file, { description: word })
  await ann.post(`/api/files/${file}/tags`, { tags: [word] })
  const { document } = await ok<{ document: { id: string } }>(
    ann.call('/api/metadata.jsonld', { method: 'POST', json: { file_id: file, content: { [word]: word } } }),
  )
  await say(ann, `/api/files/${file}/comment`, word)
  const preview = await previewOf(ann, file)
  const thumbnail = await thumbnailOf(ann, `/api/files/${file}`)
  await member.post(`/api/files/${file}/follow`)
  await server.drained()
  const direct = [
    ...[
      '',
      '/blob',
      '/metadata',
      '/metadata.jsonld',
      '/tags',
      '/comments',
      '/sections',
      '/getPreviews',
      '/listpreviews',
      '/extractions',
    ].map(each => `/api/files/${file}${each}`),
    ...[`/api/sections/${section}`, `/api/previews/${preview}`, `/api/previews/${preview}/metadata`, `/api/thumbnails/${thumbnail}`],
    `/api/metadata.jsonld/${document.id}`,
  ]
  const lists = [
    `/api/search?query=${word}`,
    `/api/tags?prefix=${word}`,
    `/api/search/values?field=${word}`,
    `/api/search/fields?prefix=${word}`,
  ]
  return { word, space, dataset, folder, file, direct, lists: [...lists, '/api/events?limit=100', '/api/datasets?limit=100'] }
}
type Scene = Awaited<ReturnType<typeof scene>>

const sees = async (t: ExecutionContext, { direct, lists, word }: Scene): Promise<void> => {
  for (const path of direct) t.is((await member.get(path)).status, 200, path)
  const found = await Promise.all(lists.map(async path => JSON.stringify((await member.get(path)).body).includes(word)))
  t.deepEqual(
    found,
    lists.map(() => true),
  )
}

/** Direct reads and searches are checked at once, lists after all events have been handled. */
const isGone = async (t: ExecutionContext, { direct, lists, word }: Scene): Promise<void> => {
  for (const path of direct) t.is((await member.get(path)).status, 404, path)
  for (const query of [word, `in:*  ${word}`]) {
    const { results } = (await member.get(`/api/search?query=${encodeURIComponent(query)}`)).body as { results?: unknown[] }
    t.deepEqual(results ?? [], [])
  }
  await server.drained()
  for (const path of lists)
    t.notRegex(JSON.stringify((await member.get(path)).body).replaceAll(`query=${word}`, ''), new RegExp(word), path)
}

test.serial('members lose access to resources attached to a file when its dataset is removed from the space', async t => {
  const it = await scene()
  await sees(t, it)
  t.is((await ann.post(`/api/spaces/${it.space}/removeDataset/${it.dataset}`)).status, 200)
  await isGone(t, it)
  t.is((await ann.post(`/api/spaces/${it.space}/addDatasetToSpace/${it.dataset}`)).status, 200)
  await server.drained()
  await sees(t, it)
})

test.serial('members lose access to resources attached to a file when it moves to a private dataset of its owner', async t => {
  const it = await scene()
  await sees(t, it)
  const own = await newDataset(ann.call, { name: 'own' })
  t.is((await ann.post(`/api/datasets/${it.dataset}/moveBetweenDatasets/${own}/${it.file}?fromFolder=${it.folder}`)).status, 200)
  for (const path of it.direct) t.is((await member.get(path)).status, 404, path)
  t.is((await member.get(`/api/datasets/${it.dataset}`)).status, 200)
})

test.serial('members lose access to resources attached to a file while its dataset is in the trash', async t => {
  const it = await scene()
  await sees(t, it)
  t.is((await ann.remove(`/api/datasets/${it.dataset}`)).status, 200)
  await isGone(t, it)
  t.is((await ann.put(`/api/datasets/restore/${it.dataset}`)).status, 200)
  await server.drained()
  await sees(t, it)
})

test.serial('a removed member loses access to resources attached to a file', async t => {
  const it = await scene()
  await sees(t, it)
  t.is((await ann.post(`/api/spaces/${it.space}/removeUser?removeUser=${member.id}`)).status, 200)
  await isGone(t, it)
})

test.serial('a member whose role has no permissions sees nothing: an empty list grants nothing', async t => {
  const it = await scene()
  const admin = server.as(server.admin.key)
  const { id } = await ok<{ id: string }>(
    admin('/api/roles', { method: 'POST', json: { name: 'Nothing', description: '', permissions: [] } }),
  )
  await letIn(ann, it.space, 'Nothing', member)
  await isGone(t, it)
  t.is((await member.get(`/api/spaces/${it.space}`)).status, 404)
  t.truthy(id)
})
