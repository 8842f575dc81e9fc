import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'ava'
import type { Kind, SearchIndex } from 'pounce/sdk'
import { put, request } from '../../../sdk/testing/search-documents.ts'
import { freshIndex, startedIndex } from '../../../test/support/fts-index.ts'

const found = async (index: SearchIndex, ...kinds: readonly Kind[]): Promise<readonly Kind[]> =>
  (await index.search({ ...request({ op: 'word', text: 'leaf' }), kinds })).hits.map(({ kind }) => kind).sort()

test('a search for some kinds finds no others, whichever were added before', async t => {
  const { index } = await freshIndex(t)
  await index.apply([put(1, { name: 'leaf', kind: 'file' }), put(2, { name: 'leaf', kind: 'dataset' })])
  t.deepEqual(await found(index, 'dataset', 'file'), ['dataset', 'file'])
  t.deepEqual(await found(index, 'file'), ['file'])
  t.deepEqual(await found(index, 'file', 'collection'), ['file'])
  await index.apply([put(3, { name: 'leaf', kind: 'collection' })])
  t.deepEqual(await found(index, 'dataset', 'file'), ['dataset', 'file'])
  const many = Array.from({ length: 20 }, (_, n) => put(10 + n, { name: 'leaf', kind: 'sensor' }))
  await index.apply(many)
  t.deepEqual(await found(index, 'collection', 'dataset', 'file'), ['collection', 'dataset', 'file'])
  t.is((await found(index, 'collection', 'dataset', 'file', 'sensor')).length, 23)
})

test('an index of an earlier release, which has not recorded all kinds, is searched by kind', async t => {
  const { index, folder } = await freshIndex(t)
  await index.apply([put(1, { name: 'leaf', kind: 'file' }), put(2, { name: 'leaf', kind: 'dataset' })])
  await index.dispose()
  const [name = ''] = readdirSync(join(folder, 'search')).filter(each => each.endsWith('.db'))
  const file = new DatabaseSync(join(folder, 'search', name))
  file.exec("DELETE FROM meta WHERE key LIKE 'kind:%'")
  file.close()
  const later = startedIndex(t, folder)
  await later.apply([put(3, { name: 'leaf', kind: 'file' })])
  t.deepEqual(await found(later, 'file'), ['file', 'file'])
  t.deepEqual(await found(later, 'dataset', 'file'), ['dataset', 'file', 'file'])
})
