import test from 'ava'
import { BlobStore, Counters, Datasets, Files } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { DatasetCopies } from '../../plugins/resources/dataset-files/dataset-copies.ts'
import { callsOf, idsOf } from '../support/calls.ts'
import { extracted } from '../support/extracted.ts'
import { newDataset, newFolder, upload, uploadData } from '../support/scene.ts'
import { letIn, newSpace, publish, somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'

const server = await bootForTest({ config: { access: { private: true } } })
const [ann, bob, eve] = [await somebody(server, 'ann'), await somebody(server, 'bob'), await somebody(server, 'eve')]
test.after.always(() => server.stop())
const [files, datasets, blobs] = [server.get(Files), server.get(Datasets), server.get(BlobStore)]
const nobody = callsOf(server.as())
const copy = async (by: typeof ann, id: string, space: string) => by.post(`/api/datasets/${id}/copyDatasetToSpace/${space}`)
const copied = async (id: string, space: string): Promise<string> => {
  const { body } = await copy(ann, id, space)
  await server.drained(60_000)
  return (body as { newDatasetId: string }).newDatasetId
}
const agent = (kind: 'cat:extractor' | 'cat:user') => ({
  '@type': kind,
  name: 'x',
  ...(kind === 'cat:user' ? { user_id: `http://any/api/users/${ann.id}` } : { extractor_id: 'https://any/extractors/x/1.0' }),
})

/** A dataset with a file in the root and one in a/b. The dataset and the latter have metadata from an extractor and from a user. */
const original = async () => {
  const dataset = await newDataset(ann.call, { name: 'Leaves', description: 'of last year' })
  const a = await newFolder(ann.call, dataset, 'a')
  const b = await newFolder(ann.call, dataset, 'b', a)
  const root = await upload(ann.call, dataset, 'in the root', 'root.txt')
  const deep = await upload(ann.call, dataset, 'below b', 'deep.txt', { query: `extract=false&folder_id=${b}` })
  for (const path of [`datasets/${dataset}`, `files/${deep}`]) {
    for (const kind of ['cat:extractor', 'cat:user'] as const)
      await ann.post(`/api/${path}/metadata.jsonld`, { '@context': [{ k: 'http://k' }], agent: agent(kind), content: { k: kind } })
  }
  await ann.post(`/api/datasets/${dataset}/creator`, { creator: 'Ada' })
  await ann.post(`/api/files/${root}/tags`, { tags: ['green'] })
  return { dataset, a, b, root, deep }
}
const listed = async (dataset: string) =>
  (await ann.get(`/api/datasets/${dataset}/files`)).body as readonly { id: string; filename: string; folders?: { name: string } }[]

test.serial('a copy has the folders, files and extractor metadata of the original and belongs to the space', async t => {
  await server.drained(60_000)
  const before = await server.get(Counters).instance()
  const [space, from] = [await newSpace(ann), await original()]
  await letIn(ann, space, 'Editor', bob)
  const id = await copied(from.dataset, space)
  t.like((await bob.get(`/api/datasets/${id}`)).body, {
    id,
    name: 'Leaves',
    description: 'of last year',
    spaces: [space],
    authorId: ann.id,
  })
  t.like(await datasets.get(id), { state: 'live', creators: ['Ada'] })
  const rows = await listed(id)
  t.deepEqual(
    rows.map(row => row.filename),
    ['root.txt', 'deep.txt'],
  )
  const [root = '', deep = ''] = rows.map(row => row.id)
  t.deepEqual((await ann.get(`/api/files/${deep}/paths`)).body, { paths: [['Leaves', 'a', 'b']] })
  t.is((await bob.get(`/api/files/${deep}`)).body, 'below b')
  t.like((await bob.get(`/api/files/${root}/tags`)).body, { id: root, filename: 'root.txt', tags: ['green'] })
  t.like((await bob.get(`/api/files/${root}/metadata`)).body, { downloads: '0', status: 'PROCESSED', authorId: ann.id })
  for (const path of [`datasets/${id}`, `files/${deep}`]) {
    const found = (await bob.get(`/api/${path}/metadata.jsonld`)).body as readonly { content: unknown }[]
    t.deepEqual(
      found.map(document => document.content),
      [{ k: 'cat:extractor' }],
      path,
    )
    t.like(found[0], { '@context': [{ k: 'http://k' }] })
  }
  const related = (await ann.get('/api/relations')).body as readonly { source: object; target: object }[]
  const pairs = related.map(({ source, target }) => [source, target])
  const end = (resourceType: string, id: string) => ({ id, resourceType })
  for (const [type, old, made] of [
    ['dataset', from.dataset, id],
    ['file', from.deep, deep],
    ['file', from.root, root],
  ] as const)
    t.true(
      pairs.some(pair => JSON.stringify(pair) === JSON.stringify([end(type, old), end(type, made)])),
      type,
    )
  t.like(await server.get(Counters).instance(), { datasets: before.datasets + 2, files: before.files + 4, bytes: before.bytes + 2 * 18 })
  t.deepEqual(await idsOf(ann.get(`/api/spaces/${space}/datasets`)), [id])
  t.is((await eve.get(`/api/datasets/${id}`)).status, 404)
})

test('a copy has thumbnails of its own, which outlive the original', async t => {
  const [space, dataset] = [await newSpace(ann), await newDataset(ann.call)]
  await letIn(ann, space, 'Viewer', bob)
  const file = await uploadData(ann.call, dataset, 'picture.png', 'image/png')
  await until('the thumbnail to be set', async () => (await datasets.get(dataset))?.thumbnail)
  await extracted(ann.call, file)
  await server.drained(60_000)
  const before = (await files.get(file))?.thumbnail
  const id = await copied(dataset, space)
  const [row] = await listed(id)
  const { thumbnail } = (await ann.get(`/api/files/${row?.id}/metadata`)).body as { thumbnail: string }
  t.truthy(thumbnail)
  t.not(thumbnail, before)
  t.like((await bob.get(`/api/datasets/${id}`)).body, { thumbnail })
  t.is((await bob.get(`/api/thumbnails/${thumbnail}/blob`)).status, 200)
  t.is((await bob.get(`/api/thumbnails/${before}/blob`)).status, 404)
  await datasets.remove(dataset)
  await server.drained(60_000)
  t.is((await bob.get(`/api/thumbnails/${thumbnail}/blob`)).status, 200)
})

test('a copy keeps the access of its original, so a private dataset is not published by copying it to a public space', async t => {
  const space = await newSpace(ann)
  await publish(server, ann, space)
  const statuses: Record<string, number> = {}
  for (const access of ['PRIVATE', 'DEFAULT', 'PUBLIC', 'TRIAL'] as const) {
    const dataset = await newDataset(ann.call)
    await datasets.change(dataset, { set: { access } }, [])
    const id = await copied(dataset, space)
    // The space is verified, so its datasets are not on trial.
    t.is((await datasets.get(id))?.access, access === 'TRIAL' ? 'DEFAULT' : access)
    statuses[access] = (await eve.get(`/api/datasets/${id}`)).status
  }
  t.deepEqual(statuses, { PRIVATE: 404, DEFAULT: 200, PUBLIC: 200, TRIAL: 200 })
})

test('shared bytes are kept until the last file that refers to them is deleted', async t => {
  const [space, from] = [await newSpace(ann), await original()]
  const [one, two] = [await copied(from.dataset, space), await copied(from.dataset, space)]
  const blob = (await files.get(from.deep))?.blob ?? ''
  for (const dataset of [from.dataset, one]) {
    await datasets.remove(dataset)
    await server.drained(60_000)
    t.truthy(await blobs.stat(blob))
  }
  const [, deep] = await listed(two)
  t.is((await ann.get(`/api/files/${deep?.id}`)).body, 'below b')
  await datasets.remove(two)
  await server.drained(60_000)
  t.is(await blobs.stat(blob), undefined)
})

test('a copy made while the original is being deleted has the bytes of each of its files', async t => {
  const space = await newSpace(ann)
  for (let n = 0; n < 8; n++) {
    const from = await original()
    const all = [(await files.get(from.root))?.blob ?? '', (await files.get(from.deep))?.blob ?? '']
    const removed = async () => {
      for (const file of [from.deep, from.root]) await ann.remove(`/api/files/${file}`)
      await datasets.remove(from.dataset)
    }
    const [answer] = await Promise.all([copy(ann, from.dataset, space), removed()])
    await server.drained(60_000)
    const { newDatasetId } = answer.body as { newDatasetId?: string }
    if (newDatasetId === undefined) t.is(answer.status, 404)
    else for (const row of await listed(newDatasetId)) t.is((await ann.get(`/api/files/${row.id}`)).status, 200)
    const kept = newDatasetId === undefined ? 0 : (await listed(newDatasetId)).length
    t.is((await Promise.all(all.map(key => blobs.stat(key)))).filter(info => info !== undefined).length, kept)
  }
})

test.serial('a failed copy leaves nothing behind', async t => {
  await server.drained(60_000)
  const [space, from] = [await newSpace(ann), await original()]
  await server.drained(60_000)
  const before = await server.get(Counters).instance()
  const aborted = AbortSignal.abort(new Error('stopped'))
  await t.throwsAsync(server.get(DatasetCopies).copy(from.dataset, space, ann.id, aborted), { message: 'stopped' })
  await server.drained(60_000)
  t.deepEqual(await server.get(Counters).instance(), before)
  t.deepEqual(await idsOf(ann.get(`/api/spaces/${space}/datasets`)), [])
  t.is((await ann.get(`/api/files/${from.deep}`)).status, 200)
})

test('only the author can copy a dataset, and only into a space they may add to', async t => {
  const [mine, hers, from] = [await newSpace(ann), await newSpace(eve), await original()]
  await letIn(ann, mine, 'Editor', bob)
  await ann.post(`/api/spaces/${mine}/addDatasetToSpace/${from.dataset}`)
  t.is((await copy(bob, from.dataset, mine)).status, 403)
  t.is((await copy(ann, from.dataset, hers)).status, 404)
  t.is((await copy(eve, from.dataset, hers)).status, 404)
  await letIn(eve, hers, 'Viewer', ann)
  t.is((await copy(ann, from.dataset, hers)).status, 403)
  t.is((await nobody.post(`/api/datasets/${from.dataset}/copyDatasetToSpace/${mine}`)).status, 401)
  for (const wrong of ['nonsense', 'f'.repeat(24)]) {
    t.is((await copy(ann, wrong, mine)).status, 404)
    t.is((await copy(ann, from.dataset, wrong)).status, 404)
  }
  await ann.remove(`/api/datasets/${from.dataset}`)
  t.is((await copy(bob, from.dataset, mine)).status, 404)
  t.is((await copy(ann, from.dataset, mine)).status, 409)
})
