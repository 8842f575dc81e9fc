import { readFile } from 'node:fs/promises'
import test from 'ava'
import { readQuery } from 'pounce/sdk/search/language'
import { withContainers } from '../plugins/resources/search/contains-query.ts'
import { found, put, request, searchDocument } from '../sdk/testing/search-documents.ts'
import { freshIndex } from './support/fts-index.ts'

const page = await readFile(new URL('../docs/search.md', import.meta.url), 'utf8')

interface Row {
  readonly query: string
  readonly fits: string
  readonly not: string
}

const code = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text.replaceAll('\\|', '|'))

const rowsOf = (heading: string): readonly Row[] => {
  const part = page.split(/^## /m).find(each => each.startsWith(heading)) ?? ''
  const rows = part.split('\n').filter(line => line.startsWith('| `'))
  return rows.map(line => {
    const [query = '', , fits = '', not = ''] = line.slice(2, -2).split(/ \| /)
    return { query: code(query)[0] ?? '', fits: code(fits)[0] ?? '', not: code(not)[0] ?? '' }
  })
}

test('the examples of words match what the page describes, and nothing else', async t => {
  const rows = rowsOf('Words')
  t.true(rows.length > 15)
  const { index } = await freshIndex(t)
  await index.apply(rows.flatMap(({ fits, not }, at) => [put(2 * at + 1, { name: fits }), put(2 * at + 2, { name: not })]))
  for (const [at, { query }] of rows.entries()) {
    const numbers = await found(index, readQuery(query))
    t.deepEqual([numbers.includes(2 * at + 1), numbers.includes(2 * at + 2)], [true, false], query)
  }
})

test('the examples of fields match the resource of the page, and the counter-examples do not', async t => {
  const rows = rowsOf('Fields')
  t.true(rows.length > 15)
  const { index } = await freshIndex(t)
  const metadata = [
    { field: 'depth', value: 12.5 },
    { field: 'site.label', value: 'North Field' },
    { field: 'site.lat', value: 45.1 },
    { field: 'levels', value: 1 },
    { field: 'levels', value: 10 },
    { field: 'taken', value: new Date('2021-04-19T12:00:00Z') },
    { field: 'Funding Institution', value: 'University of Illinois' },
  ]
  await index.apply([put(1, { name: 'Plot 7', tags: ['red oak', 'leaf'], metadata })])
  for (const { query, fits, not } of rows) {
    for (const text of [query, fits]) t.deepEqual(await found(index, readQuery(text)), [1], text)
    t.deepEqual(await found(index, readQuery(not)), [], not)
  }
})

test('the examples of containers match the dataset of the page, and the counter-examples do not', async t => {
  const rows = rowsOf('Containers')
  t.true(rows.length > 3)
  const { index } = await freshIndex(t)
  const [id = '', collection = '', file = ''] = page.match(/\b[0-9a-f]{24}\b/g) ?? []
  await index.apply([{ put: { ...searchDocument(1), id, kind: 'dataset', childOf: [collection] } }, put(2)])
  const containers = new Map([
    [file, [id]],
    [id, [collection]],
  ])
  for (const { query, fits, not } of rows) {
    const fitsIt = async (text: string): Promise<boolean> => {
      const { hits } = await index.search(request(withContainers(readQuery(text), containers)))
      return hits.some(hit => hit.id === id)
    }
    t.deepEqual(await Promise.all([query, fits, not].map(fitsIt)), [true, true, false], query)
  }
})
