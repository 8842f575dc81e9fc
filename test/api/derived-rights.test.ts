import test, { type ExecutionContext } from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { previewOf, say, sectionOf, send, thumbnailOf } from '../support/derived.ts'
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

test.serial('a tile attached to a preview has the rights of the preview: its uploader alone cannot move it', async t => {
  const it = await scene()
  await letIn(ann, it.space, 'Editor', member)
  const preview = await previewOf(ann, it.file)
  const [inside, own] = [await previewOf(ann, it.file), await send(member, '/api/previews')]
  const tile = await send(member, '/api/tiles', { name: 'x_1.jpg' })
  const put = async (who: Somebody, to: string, level = 3) => (await who.post(`/api/previews/${to}/tiles/${tile}/${level}`, {})).status
  const shows = async (who: Somebody, of: string, level = 3) => (await who.get(`/api/previews/${of}_files/${level}/x_1.jpg`)).status
  for (const [to, level] of [
    [preview, 3],
    [preview, 3],
    [preview, 4],
    [inside, 3],
  ] as const) {
    t.is(await put(member, to, level), 200)
    t.is(await shows(ann, to, level), 200)
  }
  t.is(await put(ann, preview), 200, 'those with the right on both previews move it')
  t.is(await shows(ann, inside), 404)
  t.is((await ann.remove(`/api/datasets/${it.dataset}`)).status, 200)
  t.is(await put(ann, await send(ann, '/api/previews')), 409)
  t.is(await put(member, own), 404, 'what is in the trash is read-only')
  t.is((await ann.put(`/api/datasets/restore/${it.dataset}`)).status, 200)
  await letIn(ann, it.space, 'Viewer', member)
  t.is(await put(member, own), 403)
  t.is((await ann.post(`/api/spaces/${it.space}/removeUser?removeUser=${member.id}`)).status, 200)
  t.is(await shows(member, preview), 404)
  t.is(await put(member, own), 404)
  t.is(await shows(ann, preview), 200)
})

test.serial('the previewers of a dataset list no files for roles without ViewFile', async t => {
  const it = await scene()
  const dataset = await newDataset(ann.call, { space: [it.space] })
  const file = await upload(ann.call, dataset, 'png', 'a.png', { type: 'image/png' })
  const preview = await previewOf(ann, file)
  const listed = async (who: Somebody) => {
    const { status, body } = await who.get(`/api/datasets/${dataset}/getPreviews`)
    return { status, ids: (body as { previews: { pv_id: string }[] }[]).flatMap(({ previews }) => previews.map(({ pv_id }) => pv_id)) }
  }
  t.deepEqual(await listed(member), { status: 200, ids: [preview] })
  const json = { name: 'Names only', description: '', permissions: ['ViewSpace', 'ViewDataset'] }
  await ok(server.as(server.admin.key)('/api/roles', { method: 'POST', json }))
  await letIn(ann, it.space, 'Names only', member)
  t.deepEqual(await listed(member), { status: 200, ids: [] })
})
