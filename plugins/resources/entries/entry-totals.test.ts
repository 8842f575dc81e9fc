import test from 'ava'
import { type AnyEvent, DocumentStore, event } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { newPerson } from '../../../test/support/people.ts'
import { newDataset, newFolder, upload } from '../../../test/support/scene.ts'
import { EntryIndex, entries, entryIdOf, entryIndexes } from './entry-index.ts'
import { EntryTotals, entryTotals } from './entry-totals.ts'

const server = await bootForTest()
test.after.always(() => server.stop())
const totals = server.get(EntryTotals)
const index = server.get(EntryIndex)
const documents = server.get(DocumentStore)
let number = 0
const stored = (made: ReturnType<typeof event>): AnyEvent =>
  ({ ...made, id: `e${number++}`, at: '2026-01-01T00:00:00.000Z' }) as unknown as AnyEvent

const added = (dataset: string, sizeBytes: number): AnyEvent => {
  const to = { places: [dataset], sizeBytes }
  return stored(event('dataset.entry-indexed', { kind: 'dataset', id: dataset }, { kind: 'file', from: null, to }))
}
const none = { folders: 0, files: 0, bytes: 0, allFolders: 0, allFiles: 0, allBytes: 0 }

test('a redelivered event, alone or in a batch, is counted once', async t => {
  const ann = await newPerson(server, 'ann')
  const dataset = await newDataset(ann.call)
  const [first, second] = [added(dataset, 10), added(dataset, 5)]
  await totals.handleAll([first])
  await totals.handleAll([first, second])
  await totals.handleAll([second, first])
  t.deepEqual(await totals.of([dataset]), { ...none, files: 2, bytes: 15, allFiles: 2, allBytes: 15 })
})

test('kernels that count concurrently miss no event', async t => {
  const ann = await newPerson(server, 'ben')
  const dataset = await newDataset(ann.call)
  const batches = Array.from({ length: 4 }, () => Array.from({ length: 10 }, () => added(dataset, 1)))
  await Promise.all(batches.map(each => totals.handleAll(each)))
  t.like(await totals.of([dataset]), { files: 40, allBytes: 40 })
})

test('no totals are stored for a small dataset or a deleted indexed one', async t => {
  const ann = await newPerson(server, 'cem')
  const dataset = await newDataset(ann.call)
  const folder = await newFolder(ann.call, dataset, 'f')
  const file = await upload(ann.call, dataset, 'abc', 'a.txt', { query: `extract=false&folder_id=${folder}` })
  await server.drained()
  const kept = async () => ({
    indexes: (await documents.getMany(entryIndexes, [dataset])).size,
    entries: (await documents.getMany(entries, [entryIdOf(dataset, file), entryIdOf(dataset, folder)])).size,
    totals: (await documents.getMany(entryTotals, [dataset, folder])).size,
  })
  t.deepEqual(await kept(), { indexes: 0, entries: 0, totals: 0 })
  await index.request(dataset)
  await index.request(dataset)
  await server.drained()
  t.deepEqual(await kept(), { indexes: 1, entries: 2, totals: 2 })
  t.like(await totals.of([folder]), { files: 1, bytes: 3 })
  await ann.call(`/api/datasets/${dataset}`, { method: 'DELETE' })
  await ann.call(`/api/trash/datasets/${dataset}`, { method: 'DELETE' })
  await ann.call(`/api/datasets/${dataset}`, { method: 'DELETE' })
  await server.drained()
  await totals.handleAll([added(dataset, 1)])
  t.deepEqual(await kept(), { indexes: 0, entries: 0, totals: 0 })
})

test('indexing twice and redelivered events change nothing', async t => {
  const ann = await newPerson(server, 'dan')
  const dataset = await newDataset(ann.call)
  const folder = await newFolder(ann.call, dataset, 'f')
  await newFolder(ann.call, dataset, 'g', folder)
  await upload(ann.call, dataset, '12345')
  const file = await upload(ann.call, dataset, 'abc', 'a.txt', { query: `extract=false&folder_id=${folder}` })
  await ann.call(`/api/datasets/${dataset}/files/${file}`, { method: 'POST' })
  await index.request(dataset)
  await server.drained()
  const expected = { folders: 1, files: 2, bytes: 8, allFolders: 2, allFiles: 2, allBytes: 8 }
  t.deepEqual(await totals.of([dataset]), expected)
  const revisions = async () =>
    (await documents.getMany(entries, [entryIdOf(dataset, file), entryIdOf(dataset, folder)])).values().toArray()
  const before = await revisions()
  await documents.commit({ update: dataset, in: entryIndexes, set: { isReady: false } })
  await index.handleAll([
    stored(event('dataset.entries-due', { kind: 'dataset', id: dataset }, {})),
    stored(event('file.placed', { kind: 'file', id: file }, { datasets: [dataset] })),
  ])
  await server.drained()
  t.deepEqual(await revisions(), before)
  t.deepEqual(await totals.of([dataset]), expected)
  t.is(await index.stateOf(dataset), 'ready')
})

test('files renamed, moved and deleted while their dataset is being indexed are indexed correctly', async t => {
  const ann = await newPerson(server, 'eva')
  const dataset = await newDataset(ann.call)
  const folder = await newFolder(ann.call, dataset, 'f')
  const files = await Promise.all(
    Array.from({ length: 60 }, (_, n) => upload(ann.call, dataset, 'x', `${n}.txt`, { query: 'extract=false' })),
  )
  await server.drained()
  const doing = files.map((file, n) => {
    if (n % 3 === 0) return ann.call(`/api/files/${file}`, { method: 'DELETE' })
    if (n % 3 === 1) return ann.call(`/api/files/${file}/filename`, { method: 'PUT', json: { name: `new ${n}` } })
    return ann.call(`/api/datasets/${dataset}/moveFile/${folder}/${file}`, { method: 'POST', json: { oldFolder: 'root' } })
  })
  await Promise.all([index.request(dataset), ...doing])
  await server.drained()
  const kept = await documents.getMany(
    entries,
    files.map(file => entryIdOf(dataset, file)),
  )
  t.deepEqual(
    files.map(file => kept.get(entryIdOf(dataset, file))).map(each => each && [each.text, each.places]),
    files.map((_, n) => (n % 3 === 0 ? undefined : n % 3 === 1 ? [`new ${n}`, [dataset]] : [`${n}.txt`, [folder]])),
  )
  t.like(await totals.of([dataset]), { files: 20, allFiles: 40, folders: 1 })
  t.like(await totals.of([folder]), { files: 20 })
})
