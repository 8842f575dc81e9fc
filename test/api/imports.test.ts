import test from 'ava'
import { BlobStore, Counters, Datasets, Files, Folders, MetadataDocuments } from 'pounce/sdk'
import { bootForTest, FixedClock } from 'pounce/sdk/testing'
import { callsOf, idsOf } from '../support/calls.ts'
import { extracted } from '../support/extracted.ts'
import { newSpace, somebody } from '../support/spaces-and-people.ts'

const clock = new FixedClock()
const server = await bootForTest({ clock })
const ann = await somebody(server)
const space = await newSpace(ann)
test.after.always(() => server.stop())
const [datasets, files, folders, metadata] = [server.get(Datasets), server.get(Files), server.get(Folders), server.get(MetadataDocuments)]
const admin = callsOf(server.as(server.admin.key))
const hourMs = 60 * 60 * 1000
type Names = readonly { readonly event_type: string; readonly object_name: string }[]

/** A hidden dataset with a folder, a file in it, and metadata on the file. */
const imported = async (name: string, extract = false) => {
  const about = { name, author: ann.id, isImporting: true }
  const dataset = await datasets.create({ ...about, spaces: [space], creators: ['A', 'A', 'B'] })
  const folder = await folders.create({ ...about, dataset: dataset.id, parent: { kind: 'dataset', id: dataset.id } })
  const { key: blob, sizeBytes, sha256 } = await server.get(BlobStore).put(Buffer.from(name))
  const file = await files.create({
    ...{ ...about, blob, sizeBytes, sha256, extract, contentType: 'text/plain', description: 'from a bag' },
    ...{ dataset: dataset.id, folder: folder.id },
  })
  const agent = { kind: 'user', name: 'Ann', extractorId: null, userId: ann.id } as const
  await metadata.add({ target: { kind: 'file', id: file.id }, agent, content: { word: name }, author: ann.id, isImporting: true })
  return { dataset: dataset.id, folder: folder.id, file: file.id, blob }
}

const found = async (word: string) =>
  idsOf(ann.get(`/api/search?query=${word}`).then(answer => ({ ...answer, body: (answer.body as { results: unknown }).results })))

test.serial('an import is invisible until complete, then visible at once to all who may view it', async t => {
  await server.drained()
  const before = await server.get(Counters).instance()
  const { dataset, file, folder } = await imported('quokka')
  await server.drained()
  for (const { get } of [ann, admin]) {
    for (const path of [
      `datasets/${dataset}`,
      `datasets/${dataset}/files`,
      `files/${file}`,
      `files/${file}/metadata`,
      `files/${file}/metadata.jsonld`,
    ])
      t.is((await get(`/api/${path}?superAdmin=true`)).status, 404, path)
    t.deepEqual(await idsOf(get('/api/datasets?title=quokka')), [])
  }
  t.deepEqual(await idsOf(ann.get(`/api/spaces/${space}/datasets`)), [])
  t.deepEqual(await found('quokka'), [])
  t.deepEqual(await server.get(Counters).instance(), before)
  t.is((await ann.post(`/api/datasets/${dataset}/newFolder`, { name: 'x', parentId: dataset, parentType: 'dataset' })).status, 404)
  t.is((await ann.put(`/api/files/${file}/filename`, { name: 'x' })).status, 404)
  t.is((await ann.remove(`/api/datasets/${dataset}`)).status, 404)

  await datasets.reveal(dataset)
  await datasets.reveal(dataset)
  await server.drained()
  t.deepEqual(await idsOf(ann.get('/api/datasets?title=quokka')), [dataset])
  t.deepEqual(await idsOf(ann.get(`/api/spaces/${space}/datasets`)), [dataset])
  t.deepEqual((await found('quokka')).toSorted(), [dataset, file].toSorted())
  t.like(await server.get(Counters).instance(), { datasets: before.datasets + 1, files: before.files + 1, bytes: before.bytes + 6 })
  t.like((await ann.get(`/api/files/${file}/metadata`)).body, { path: '/quokka', filedescription: 'from a bag', status: 'PROCESSED' })
  t.like(await datasets.get(dataset), { creators: ['A', 'B'], state: 'live' })
  t.is((await files.get(file))?.untold, undefined)
  const lines = ((await ann.get('/api/events')).body as Names).filter(line => line.object_name === 'quokka')
  t.deepEqual(lines.map(line => line.event_type).toSorted(), ['add_dataset_space', 'create_dataset'])
  t.is((await ann.get(`/api/datasets/${dataset}/folders`)).status, 200)
  t.truthy(folder)
})

test.serial('a file with requested extraction is extracted when its dataset becomes visible', async t => {
  const { dataset, file } = await imported('numbat', true)
  await server.drained()
  t.is((await files.get(file))?.status, 'CREATED')
  await datasets.reveal(dataset)
  await extracted(ann.call, file)
  t.not(((await ann.get(`/api/files/${file}/listpreviews`)).body as readonly unknown[]).length, 0)
})

test.serial('a dropped import leaves nothing behind and is not counted', async t => {
  await server.drained()
  const before = await server.get(Counters).instance()
  const { dataset, file, folder, blob } = await imported('dugong')
  await datasets.drop(dataset)
  await datasets.drop(dataset)
  await server.drained()
  for (const gone of [datasets.get(dataset), files.get(file), folders.get(folder), server.get(BlobStore).stat(blob)])
    t.is(await gone, undefined)
  t.deepEqual((await metadata.of({ kind: 'file', id: file })).items, [])
  t.deepEqual(await server.get(Counters).instance(), before)
  await t.throwsAsync(datasets.reveal(dataset), { message: /^Dataset not found/ })
  await t.throwsAsync(datasets.stillImporting(dataset), { message: /^Dataset not found/ })
})

test.serial('dropping a revealed import has no effect', async t => {
  const { dataset, file } = await imported('bilby')
  await datasets.reveal(dataset)
  await datasets.drop(dataset)
  await server.drained()
  t.is((await datasets.get(dataset))?.state, 'live')
  t.truthy(await files.get(file))
})

test.serial('an import without progress for an hour is dropped, an active one is not', async t => {
  const [lost, kept] = [await imported('potoroo'), await imported('bettong')]
  clock.advance(hourMs - 1000)
  await server.runPeriodic('resources.datasets/abandoned-imports')
  t.truthy(await datasets.get(lost.dataset))
  await datasets.stillImporting(kept.dataset)
  clock.advance(2000)
  await server.runPeriodic('resources.datasets/abandoned-imports')
  await server.drained()
  t.is(await datasets.get(lost.dataset), undefined)
  t.is(await files.get(lost.file), undefined)
  t.is((await datasets.get(kept.dataset))?.state, 'importing')
  await datasets.drop(kept.dataset)
})
