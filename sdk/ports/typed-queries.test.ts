import test from 'ava'
import { and, collection, DocumentStore, eq, isIn, not, or, range, type Where } from 'pounce/sdk'
import { bootForTest } from '../testing/boot-for-test.ts'

interface Sample {
  readonly name: string
  readonly dataset: string | null
  readonly places: readonly { readonly space: string; readonly at: { readonly depth: number } }[]
  readonly labels: Readonly<Record<string, string>>
  readonly owner?: { readonly id: string }
}

const samples = collection<Sample>()('example.samples', {
  byDataset: { on: ['dataset', 'name'] },
  bySpace: { on: ['places.space', 'name'], array: 'places.space' },
  byNamePiece: { on: ['name~'], array: 'name~' },
})

/** Only compiled, never called. */
const misspelt = async (documents: DocumentStore): Promise<void> => {
  const page = { using: 'byDataset', limit: 10 } as const
  // @ts-expect-error: the field is dataset
  await documents.find(samples, { ...page, where: eq('datset', 'x') })
  // @ts-expect-error: one of several conditions names no field
  await documents.find(samples, { ...page, where: and(eq('dataset', 'x'), or(not(isIn('datset', ['x'])), eq('name', 'x'))) })
  // @ts-expect-error: places have a space
  await documents.find(samples, { ...page, where: eq('places.spaces', 'x') })
  // @ts-expect-error: a string has no members
  await documents.find(samples, { ...page, where: eq('name.first', 'x') })
  // @ts-expect-error: the field of the order is name
  await documents.find(samples, { ...page, sort: { by: 'nam', order: 'ascending' } })
  // @ts-expect-error: the index is byDataset
  await documents.find(samples, { using: 'byDatset', limit: 10 })
  // @ts-expect-error: one of several indexes is misspelt
  await documents.find(samples, { using: ['byDataset', 'bySpaces'], limit: 10 })
  // @ts-expect-error: count checks fields too
  await documents.count(samples, { using: 'byDataset', where: eq('datset', 'x'), upTo: 1 })
  // @ts-expect-error: scan checks the index too
  for await (const _each of documents.scan(samples, { using: 'byDatset' })) return
  // @ts-expect-error: a guard of a change
  await documents.commit({ update: 'x', in: samples, where: eq('datset', 'x'), set: { name: 'y' } })
  // @ts-expect-error: an index on an unknown field
  collection<Sample>()('example.samples', { byDataset: { on: ['datset'] } })
  // @ts-expect-error: the same in a single call
  collection<Sample>('example.samples', { byDataset: { on: ['datset'] } })
}

test('queries that name fields and indexes of a collection compile and return results; misspelt ones do not compile', async t => {
  const server = await bootForTest({ t, plugins: ['documents.sqlite'], admin: 'none' })
  const documents = server.get(DocumentStore)
  await documents.declare([samples])
  const places = [{ space: 's', at: { depth: 2 } }]
  await documents.commit({ insert: { id: 'one', name: 'soil', dataset: 'd', places, labels: { site: 'north' } }, into: samples })
  const inDepth = and(eq('places.space', 's'), range('places.at.depth', { gte: 1 }), eq('labels.site', 'north'), not(eq('owner.id', 'x')))
  const found = await documents.find(samples, { using: ['bySpace', 'byDataset'], where: inDepth, limit: 10 })
  t.deepEqual(
    found.items.map(({ id }) => id),
    ['one'],
  )
  // Conditions with computed field names are not checked by the compiler, and are accepted for every collection.
  const field: string = 'dataset'
  const loose: readonly Where[] = [eq(field, 'd'), eq('id', 'one'), eq('revision', 1)]
  t.is(await documents.count(samples, { using: 'byDataset', where: and(...loose), upTo: 5 }), 1)
  await t.throwsAsync(documents.find(samples, { using: 'byDatset' as 'byDataset', limit: 1 }), { message: /byDatset/ })
  t.is(typeof misspelt, 'function')
})
