import { readFile, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { callsOf } from '../support/calls.ts'
import { extracted } from '../support/extracted.ts'
import { type Group, pyclowderTests, type Session } from './pyclowder-session.ts'

type Item = Readonly<Record<string, unknown>> & { readonly id: string }

const data = (name: string): string => fileURLToPath(new URL(`../data/${name}`, import.meta.url))
const unknownId = 'f'.repeat(24)
const ids = (items: readonly Item[]): readonly string[] => items.map(({ id }) => id).toSorted()

const sections = async (t: ExecutionContext, { call, get, outcome }: Session): Promise<void> => {
  const dataset = await call<string>('datasets.create_empty', 'Cuts', '')
  const file = await call<string>('files.upload_to_dataset', dataset, data('photo.jpg'))
  const area = { x: 1, y: 2, w: 3, h: 4 }
  const section = await call<string>('sections.upload', { file_id: file, area, startTime: 5, endTime: 9 })
  await call('sections.upload_tags', section, { tags: ['leaf', 'edge'] })
  await call('sections.upload_description', section, { description: 'a leaf' })
  t.like(await get(`/api/sections/${section}`), { id: section, file_id: file, startTime: '5', area, description: 'a leaf' })
  t.deepEqual((await get<{ tags: string[] }>(`/api/sections/${section}/tags`)).tags, ['leaf', 'edge'])
  t.deepEqual(await get(`/api/files/${file}/sections`), [section])
  t.is((await outcome('sections.upload', { file_id: unknownId })).status, 404)
  t.is((await outcome('sections.upload', { area })).status, 400)
  t.is((await outcome('sections.upload_tags', unknownId, { tags: ['x'] })).status, 404)
  t.is((await outcome('sections.upload_description', section, {})).status, 400)
}

const previews = async (t: ExecutionContext, { call, get }: Session): Promise<void> => {
  const dataset = await call<string>('datasets.create_empty', 'Shown', '')
  const file = await call<string>('files.upload_to_dataset', dataset, data('photo.jpg'))
  const section = await call<string>('sections.upload', { file_id: file })
  const preview = await call<string>('files.upload_preview', file, data('picture.png'), { section_id: section })
  t.is((await get<Item>(`/api/previews/${preview}/metadata`)).id, preview)
  const collection = await call<string>('collections.create_empty', 'Shown together', '')
  const shown = await call<string>('collections.upload_preview', collection, data('picture.png'), { about: 'all of it' })
  t.is((await get<Item>(`/api/previews/${shown}/metadata`)).id, shown)
}

const collections = async (t: ExecutionContext, { call, get, person }: Session): Promise<void> => {
  const space = (await callsOf(person.call).post('/api/spaces', { name: 'Lab', description: '' })).body as Item
  const top = await call<string>('collections.create_empty', 'Top', 'of all', null, space.id)
  const child = await call<string>('collections.create_empty', 'Child', '', top)
  t.deepEqual(ids(await call('collections.get_child_collections', top)), [child])
  t.like(await get(`/api/collections/${child}`), { parent_collection_ids: `List(${top})` })
  const dataset = await call<string>('datasets.create_empty', 'Plots', 'of land', child, space.id)
  t.deepEqual(ids(await call('collections.get_datasets', child)), [dataset])
  t.deepEqual(ids(await get(`/api/spaces/${space.id}/datasets`)), [dataset])
  await call('collections.delete', child)
  t.deepEqual(await call('collections.get_child_collections', top), [])
}

const files = async (t: ExecutionContext, { call, get, outcome }: Session): Promise<void> => {
  const dataset = await call<string>('datasets.create_empty', 'Twice', '')
  const file = await call<string>('files.upload_to_dataset', dataset, data('notes.md'))
  t.is(await call('files.upload_to_dataset', dataset, data('notes.md'), true), null)
  t.deepEqual(ids(await call('datasets.get_file_list', dataset)), [file])
  await call('files.upload_tags', file, { tags: ['x'] })
  t.deepEqual((await get<{ tags: string[] }>(`/api/files/${file}/tags`)).tags, ['x'])
  t.is((await outcome('files.download_metadata', unknownId)).status, 404)
}

const extractions = async (t: ExecutionContext, { call, get, person }: Session): Promise<void> => {
  const collection = await call<string>('collections.create_empty', 'Many', '')
  const dataset = await call<string>('datasets.create_empty', 'Worked on', '', collection)
  const file = await call<string>('files.upload_to_dataset', dataset, data('empty.bin'))
  await extracted(person.call, file)
  const runs = async () => (await get<Item[]>(`/api/files/${file}/extractions`)).length
  const before = await runs()
  await call('files.submit_extractions_by_dataset', dataset, 'pounce.digest')
  t.is(await runs(), before + 1)
  await call('files.submit_extractions_by_collection', collection, 'pounce.digest', '.bin')
  t.is(await runs(), before + 2)
}

/** Functions of the older release that fail in the newer one because of a missing argument of its own. */
const older = async (t: ExecutionContext, { call, get, outcome }: Session): Promise<void> => {
  const collection = await call<string>('collections.create_empty', 'To go', '')
  const dataset = await call<string>('datasets.create_empty', 'Going', '', collection)
  await call('files.upload_to_dataset', dataset, data('notes.md'))
  const zip = await call<string>('datasets.download', dataset)
  t.is((await readFile(zip)).subarray(0, 2).toString(), 'PK')
  await rm(zip)
  t.is((await outcome('datasets.download', unknownId)).status, 404)
  await call('datasets.delete_by_collection', collection, true, true)
  t.true(ids(await get('/api/datasets/listTrash')).includes(dataset))
  t.true(ids(await get('/api/collections/listTrash')).includes(collection))
  t.like(await call('client.get', '/version'), { version: { build: 'pounce' } })
  const { id } = await call<Item>('client.post', '/spaces', { name: 'By client', description: '' })
  t.is((await call<Item>('client.get', `/spaces/${id}`))['name'], 'By client')
  const key = await call<Readonly<Record<string, string>>>('client.post', '/users/keys', {}, { name: 'another' })
  t.is(key['name'], 'another')
  t.deepEqual(
    (await call<{ name: string }[]>('client.get', '/users/keys')).map(({ name }) => name).filter(name => name === 'another'),
    ['another'],
  )
  await call('client.delete', `/spaces/${id}`)
  t.is((await outcome('client.get', `/spaces/${id}`)).status, 404)
}

/** Defects of release 3.0.8: no request is sent, or one that does not exist in v1. */
const broken = async (t: ExecutionContext, { call, outcome }: Session): Promise<void> => {
  const dataset = await call<string>('datasets.create_empty', 'Here', '')
  const collection = await call<string>('collections.create_empty', 'There', '')
  const inside = await call<string>('datasets.create_empty', 'Inside', '', collection)
  t.is((await outcome('datasets.download', dataset)).kind, 'TypeError')
  t.is((await outcome('datasets.delete_by_collection', collection)).kind, 'TypeError')
  t.is((await outcome('files.upload_to_dataset', dataset, data('notes.md'), true)).kind, 'TypeError')
  t.is((await outcome('files.submit_extractions_by_dataset', dataset, 'pounce.digest')).kind, 'TypeError')
  t.is((await outcome('files.download_summary', unknownId)).kind, 'TypeError')
  t.deepEqual(ids(await call('collections.get_datasets', collection)), [inside])
  t.is((await outcome('client.get', '/version')).kind, 'AttributeError')
}

const groups: readonly Group[] = [
  ['sections are made, tagged and described', sections],
  ['previews of sections and collections are uploaded', previews],
  ['collections nest, hold datasets and stand in spaces', collections],
  ['a file of the same name is not uploaded twice when that is requested', files, '2.7.0'],
  ['an extractor is submitted for the files of a dataset and of a collection', extractions, '2.7.0'],
  ['a dataset comes as a ZIP, a collection goes with its datasets, and the client reads and writes any path', older, '2.7.0'],
  ['what it cannot request changes nothing', broken, '3.0.8'],
]

await pyclowderTests(test, groups)
