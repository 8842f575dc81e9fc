import { matcher } from '../documents/matcher.ts'
import { valueAt } from '../documents/paths.ts'
import { overlongPiece } from '../documents/pieces.ts'
import { compareScalars, type Scalar } from '../documents/scalars.ts'
import {
  type After,
  and,
  collection,
  contains,
  type DocumentStore,
  eq,
  type Find,
  isIn,
  range,
  type Stored,
  type Where,
} from '../ports/document-store.ts'
import { Invalid } from '../problem.ts'
import { advanced, type ContractTest, type TestContext } from './any-runner.ts'
import { everyIndex, newest, oldest, queries, visible } from './document-find-queries.ts'
import { type Note, notes } from './notes.ts'

type Open = (t: TestContext) => Promise<DocumentStore>
type Kept = Note & Stored

/** The ids of all pages; asserts that only the last page is short. */
const idsOfPages = async (t: TestContext, store: DocumentStore, query: Find): Promise<readonly string[]> => {
  const ids: string[] = []
  let after: After | undefined
  do {
    const page = await store.find(notes, after ? { ...query, after } : query)
    t.true(page.items.length <= query.limit)
    if (page.next) t.is(page.items.length, query.limit)
    ids.push(...page.items.map(({ id }) => id))
    after = advanced(t, page.next, after)
  } while (after)
  return ids
}

const idsOfScan = async (store: DocumentStore, query: Omit<Find, 'limit' | 'after'>): Promise<readonly string[]> => {
  const ids: string[] = []
  for await (const { id } of store.scan(notes, query)) ids.push(id)
  return ids
}

/** The expected content of a page, found by a full scan. */
const bruteForce = (all: readonly Kept[], where: Where | undefined, sort: Find['sort']): readonly string[] => {
  const sign = sort?.order === 'descending' ? -1 : 1
  const sortValue = (document: Kept): Scalar => (sort ? ((valueAt(document, sort.by) ?? null) as Scalar) : null)
  return all
    .filter(matcher(where))
    .sort((a, b) => sign * (compareScalars(sortValue(a), sortValue(b)) || compareScalars(a.id, b.id)))
    .map(({ id }) => id)
}

/** 240 notes in 12 spaces, 4 per time, by 5 authors; every tenth is trashed, every seventh public. */
const fill = async (store: DocumentStore): Promise<readonly Kept[]> => {
  const items = Array.from({ length: 240 }, (_, n) => {
    const id = `n${(n * 7919) % 1000}`.padEnd(5, 'x')
    const insert = {
      id,
      name: `name ${n % 6}`,
      state: n % 10 === 0 ? 'trashed' : 'live',
      created: n % 60 === 1 ? null : new Date(1.7e12 + (n >> 2) * 1000).toISOString(),
      author: `u${n % 5}`,
      isPublic: n % 7 === 0,
      spaces: n % 11 === 0 ? [] : [`s${n % 12}`, `s${(n * 5) % 12}`],
      places: [{ dataset: `d${n % 4}` }, { dataset: `d${n % 3}`, folder: 'f' }],
    }
    return { change: { insert, into: notes } }
  })
  const results = await store.commitEach<Note>(items)
  return results.map(result => {
    if (!result.ok) throw result.error
    return result.document
  })
}

/** Pages, counts and scans. */
export function documentFindContract(test: ContractTest, open: Open): void {
  for (const [title, query] of queries) {
    test(`pages, count and scan agree with brute force: ${title}`, async t => {
      const store = await open(t)
      const all = await fill(store)
      const { using, where, sort } = query
      const expected = bruteForce(all, where, sort)
      for (const limit of [1, 7, 60, 1000]) t.deepEqual(await idsOfPages(t, store, { ...query, limit }), expected, `pages of ${limit}`)
      const counted = where ? { using, where } : { using }
      t.is(await store.count(notes, { ...counted, upTo: 1000 }), expected.length)
      t.is(await store.count(notes, { ...counted, upTo: 5 }), Math.min(5, expected.length))
      const scanned = await idsOfScan(store, query)
      t.deepEqual(sort ? scanned : [...scanned].sort(), sort ? expected : [...expected].sort())
    })
  }

  seeking(test, open)
  pagesUnderChange(test, open)
  ordersAndLimits(test, open)
}

const seekable: readonly Omit<Find, 'limit'>[] = [
  { using: 'byCreated', where: eq('state', 'live'), sort: newest },
  { using: 'byCreated', where: eq('state', 'live'), sort: { by: 'created', order: 'ascending' } },
  { using: 'bySpace', where: and(eq('state', 'live'), eq('spaces', 's3')), sort: newest },
  { using: 'bySpace', where: and(eq('state', 'live'), isIn('spaces', ['s1', 's5', 's7'])), sort: newest },
]

function seeking(test: ContractTest, open: Open): void {
  test('a page begins after the position of seek, and there is none after the last match', async t => {
    const store = await open(t)
    const all = await fill(store)
    for (const query of seekable) {
      const { where, sort } = query
      const expected = bruteForce(all, where, sort)
      for (const position of [1, 2, 7, expected.length - 1, expected.length]) {
        const after = await store.seek(notes, { ...query, position })
        if (!after) throw new Error(`nothing at ${position}`)
        const { items } = await store.find(notes, { ...query, after, limit: 3 })
        t.deepEqual(
          items.map(({ id }) => id),
          expected.slice(position, position + 3),
        )
      }
      t.is(await store.seek(notes, { ...query, position: expected.length + 1 }), undefined)
    }
  })

  test('seek rejects positions below 1 and conditions that indexes cannot answer', async t => {
    const store = await open(t)
    await fill(store)
    const query = { using: 'byCreated', where: eq('state', 'live'), sort: newest }
    for (const position of [0, -1, 1.5]) await t.throwsAsync(store.seek(notes, { ...query, position }))
    await t.throwsAsync(store.seek(notes, { ...query, where: and(eq('state', 'live'), contains('name', 'x')), position: 1 }))
  })
}

function pagesUnderChange(test: ContractTest, open: Open): void {
  test('pages of equal sort values neither skip nor repeat documents during inserts and removals', async t => {
    const store = await open(t)
    const at = '2026-01-01T00:00:00.000Z'
    const insert = (id: string) => store.commit({ insert: { id, state: 'live', created: at }, into: notes })
    const stay = Array.from({ length: 60 }, (_, n) => `b${`${n}`.padStart(2, '0')}`)
    await Promise.all(stay.map(insert))
    const seen: string[] = []
    let after: After | undefined
    for (let round = 0; ; round++) {
      const query: Find = { using: 'byCreated', where: eq('state', 'live'), sort: newest, limit: 7 }
      const page = await store.find(notes, after ? { ...query, after } : query)
      seen.push(...page.items.map(({ id }) => id))
      if (!page.next) break
      after = advanced(t, page.next, after)
      await Promise.all([insert(`a${round}`), insert(`c${round}`)])
      if (round > 0) await store.commit({ tombstone: `c${round - 1}`, in: notes })
    }
    t.is(new Set(seen).size, seen.length)
    t.deepEqual(
      seen.filter(id => id.startsWith('b')),
      stay.toReversed(),
    )
  })

  test('a page ends early after maxScanned documents, and the next one continues there', async t => {
    const store = await open(t)
    const all = await fill(store)
    for (const where of [contains('name', 'me 4'), contains('name', 'nothing has this')]) {
      const query: Find = { using: 'byCreated', where: and(eq('state', 'live'), where), sort: newest, limit: 3, maxScanned: 10 }
      const ids: string[] = []
      let pages = 0
      let after: After | undefined
      do {
        const page = await store.find(notes, after ? { ...query, after } : query)
        ids.push(...page.items.map(({ id }) => id))
        after = advanced(t, page.next, after)
        pages++
      } while (after)
      t.deepEqual(ids, bruteForce(all, query.where, newest))
      t.true(pages > 10)
    }
  })

  test('a page ends after maxCharacters, with at least one document, and the next one continues there', async t => {
    const store = await open(t)
    const sizes = [10, 3000, 3000, 10, 10, 10, 9000, 10]
    for (const [n, size] of sizes.entries()) {
      const insert = { id: `a${n}`, state: 'live', name: 'x'.repeat(size), created: `2018-01-01T00:00:0${n}.000Z` } as const
      await store.commit({ insert, into: notes })
    }
    const query: Find = {
      using: 'byCreated',
      where: eq('state', 'live'),
      sort: { by: 'created', order: 'ascending' },
      limit: 4,
      maxCharacters: 5000,
    }
    const pages: string[][] = []
    let after: After | undefined
    do {
      const page = await store.find(notes, after ? { ...query, after } : query)
      if (page.items.length > 0) pages.push(page.items.map(({ id }) => id))
      after = advanced(t, page.next, after)
    } while (after)
    t.deepEqual(pages, [['a0', 'a1', 'a2'], ['a3', 'a4', 'a5', 'a6'], ['a7']])
    t.is((await store.find(notes, { ...query, maxCharacters: 1 })).items.length, 1)
    await t.throwsAsync(store.find(notes, { ...query, maxCharacters: 0 }), { instanceOf: RangeError })
  })

  test('a scan and a walk return each large document once, in order', async t => {
    const store = await open(t)
    const ids = Array.from({ length: 8 }, (_, n) => `a${n}`)
    for (const [n, id] of ids.entries()) {
      const name = 'x'.repeat(n % 3 === 0 ? 10 : 700_000)
      await store.commit({ insert: { id, state: n === 4 ? 'trashed' : 'live', name, created: `2018-01-01T00:00:0${n}.000Z` }, into: notes })
    }
    const live = { using: 'byCreated', where: eq('state', 'live') } as const
    const idsOf = async (some: AsyncIterable<{ readonly id: string }>) => (await Array.fromAsync(some)).map(({ id }) => id)
    const found = ids.filter(id => id !== 'a4')
    t.deepEqual(await idsOf(store.scan(notes, live)), found)
    t.deepEqual(await idsOf(store.scan(notes, { ...live, sort: { by: 'created', order: 'descending' } })), found.toReversed())
    t.deepEqual(await idsOf(store.walk(notes)), ids)
    t.deepEqual(await idsOf(store.walk(notes, 'a5')), ['a6', 'a7'])
  })

  test('strings are split into a limited number of trigrams, and marked as overlong', async t => {
    const store = await open(t)
    await store.commit({ insert: { id: 'a', state: 'live', name: `${'long '.repeat(50)}END` }, into: notes })
    await store.commit({ insert: { id: 'b', state: 'live', name: 'END😀' }, into: notes })
    await store.commit({ insert: { id: 'c', state: 'live', name: 'EN' }, into: notes })
    const having = async (...pieces: readonly (string | null)[]) => {
      const where = and(eq('state', 'live'), isIn('name~', pieces))
      return (await store.find(notes, { using: 'byNamePiece', where, limit: 10 })).items.map(({ id }) => id)
    }
    t.deepEqual([await having('end'), await having('end', overlongPiece), await having('nd😀')], [['b'], ['a', 'b'], ['b']])
    t.deepEqual([await having('lon'), await having(null)], [['a'], ['c']])
    await store.commit({ update: 'b', in: notes, set: { name: 'other' } })
    t.deepEqual([await having('end'), await having('the')], [[], ['b']])
  })

  test('a page continues after the last document even if that was deleted', async t => {
    const store = await open(t)
    const all = await fill(store)
    const query: Find = { using: everyIndex, where: visible(['s3', 's7'], 'u1'), sort: newest, limit: 10 }
    const expected = bruteForce(all, query.where, newest)
    const { items, next } = await store.find(notes, query)
    await store.commit({ tombstone: items.at(-1)?.id ?? '', in: notes })
    const rest = await store.find(notes, { ...query, limit: 1000, ...(next ? { after: next } : {}) })
    t.deepEqual(
      rest.items.map(({ id }) => id),
      expected.slice(10),
    )
  })

  test('a change of an array field is in its index immediately', async t => {
    const store = await open(t)
    await store.commit({ insert: { id: 'a', places: [{ dataset: 'd1' }, { dataset: 'd1', folder: 'f' }] }, into: notes })
    const inDataset = async (dataset: string) =>
      (await store.find(notes, { using: 'byPlace', where: eq('places.dataset', dataset), limit: 10 })).items.map(({ id }) => id)
    t.deepEqual(await inDataset('d1'), ['a'])
    await store.commit({ update: 'a', in: notes, push: { places: { values: [{ dataset: 'd2' }] } }, set: { name: 'n' } })
    t.deepEqual([await inDataset('d1'), await inDataset('d2')], [['a'], ['a']])
    await store.commit({ update: 'a', in: notes, pull: { places: [{ dataset: 'd1' }] } })
    t.deepEqual([await inDataset('d1'), await inDataset('d2')], [[], ['a']])
    await store.commit({ update: 'a', in: notes, unset: ['places'] })
    t.deepEqual([await inDataset('d2'), (await store.find(notes, { using: 'byPlace', limit: 10 })).items.length], [[], 1])
  })

  test('a read sees all earlier commits', async t => {
    const store = await open(t)
    for (let n = 0; n < 20; n++) {
      await store.commit({ insert: { id: `n${n}`, state: 'live', created: `${n}`, author: 'u' }, into: notes })
      const where = and(eq('state', 'live'), eq('author', 'u'))
      t.is((await store.find(notes, { using: 'byAuthor', where, limit: 100 })).items.length, n + 1)
      t.is(await store.count(notes, { using: 'byCreated', where, upTo: 100 }), n + 1)
    }
  })
}

function ordersAndLimits(test: ContractTest, open: Open): void {
  test('documents enter and leave a sparse index as they get or lose a value', async t => {
    const store = await open(t)
    const created = '2018-01-01T00:00:00.000Z'
    await store.commit({ insert: { id: 'a', state: 'live', created, spaces: [] }, into: notes })
    const queries: Find[] = [
      { using: 'bySpaceOnly', where: and(eq('state', 'live'), eq('spaces', 's')), limit: 9 },
      { using: 'byCreatedOnly', where: and(eq('state', 'live'), range('created', { lte: created })), limit: 9 },
    ]
    const counts = () => Promise.all(queries.map(async query => (await store.find(notes, query)).items.length))
    t.deepEqual(await counts(), [0, 1])
    await store.commit({ update: 'a', in: notes, set: { created: null }, addToSet: { spaces: ['s'] } })
    t.deepEqual(await counts(), [1, 0])
    await store.commit({ update: 'a', in: notes, set: { created, spaces: [] } })
    t.deepEqual(await counts(), [0, 1])
    await store.commit({ tombstone: 'a', in: notes })
    t.deepEqual(await counts(), [0, 0])
  })

  test('null sorts first, numbers and dates by value, strings by code point', async t => {
    const store = await open(t)
    const names = ['', ' ', 'B', 'Z', 'a', 'b', 'z', 'ä', 'ö', '中', '\ue000', '\uffff', '𐀀', '😀']
    const ranks = [null, -1e300, -2, -1.5, 0, 1e-300, 1, 2, 10, 2 ** 53]
    await Promise.all(names.toReversed().map((name, n) => store.commit({ insert: { id: `n${n}`, name }, into: notes })))
    const byName = await store.find(notes, { using: 'byName', sort: { by: 'name', order: 'ascending' }, limit: 100 })
    t.deepEqual(
      byName.items.map(({ name }) => name),
      names,
    )
    await Promise.all(byName.items.map(({ id }) => store.commit({ tombstone: id, in: notes })))
    await Promise.all(ranks.toReversed().map((rank, n) => store.commit({ insert: { id: `r${n}`, rank }, into: notes })))
    const byRank = await store.find(notes, { using: 'byRank', sort: { by: 'rank', order: 'descending' }, limit: 100 })
    t.deepEqual(
      byRank.items.map(({ rank }) => rank),
      ranks.toReversed(),
    )
  })

  test('the limit of a page must be 1 to 1,000, that of a count at least 1', async t => {
    const store = await open(t)
    for (const limit of [0, -1, 1001, 1.5, Number.NaN]) await t.throwsAsync(store.find(notes, { using: 'byName', limit }))
    for (const upTo of [0, -1, 1.5]) await t.throwsAsync(store.count(notes, { using: 'byName', upTo }))
  })

  test('an undeclared index is refused, and so is a sort by a field that the index lacks', async t => {
    const store = await open(t)
    for (const using of ['byNothing', ['byName', 'byNothing'], [], 'constructor']) {
      await t.throwsAsync(store.find(notes, { using, limit: 1 }))
      await t.throwsAsync(store.count(notes, { using, upTo: 1 }))
      await t.throwsAsync(idsOfScan(store, { using }))
    }
    await t.throwsAsync(store.find(notes, { using: 'byName', sort: newest, limit: 1 }))
    await t.throwsAsync(store.find(notes, { using: 'bySpace', sort: { by: 'spaces', order: 'ascending' }, limit: 1 }))
  })

  test('a cursor that does not come from a page is invalid', async t => {
    const store = await open(t)
    await fill(store)
    const places = [[], ['a'], ['a', 'b', 'c'], ['a', 1], [{ $gt: '' }, 'a'], [['x'], 'a']] as unknown as readonly After[]
    for (const after of places) {
      await t.throwsAsync(
        store.find(notes, { using: 'byCreated', sort: newest, after, limit: 1 }),
        { instanceOf: Invalid },
        JSON.stringify(after),
      )
    }
    for (const value of [null, 7, true, 'zzz']) {
      await t.notThrowsAsync(store.find(notes, { using: 'byCreated', sort: newest, after: [value, 'a'], limit: 1 }))
    }
  })

  test('a scan can be ended early, and several can run concurrently', async t => {
    const store = await open(t)
    const all = await fill(store)
    const first: string[] = []
    for await (const { id } of store.scan(notes, { using: 'byCreated', where: eq('state', 'live'), sort: oldest })) {
      if (first.push(id) === 3) break
    }
    t.deepEqual(first, bruteForce(all, eq('state', 'live'), oldest).slice(0, 3))
    const both = await Promise.all([idsOfScan(store, { using: 'byName' }), idsOfScan(store, { using: 'bySpace' })])
    for (const ids of both) t.deepEqual([...ids].sort(), all.map(({ id }) => id).sort())
  })

  test('pages in the order of ids contain documents of their own collection, whichever was read before', async t => {
    const store = await open(t)
    const [ones, others] = ['page-ones', 'page-others'].map(name =>
      collection<{ kind: string; at: number }>()(name, { byKind: { on: ['kind', 'at'] } }),
    )
    if (!ones || !others) throw new Error('no collections')
    await store.declare([ones, others])
    for (const from of [ones, others])
      for (let at = 0; at < 3; at += 1) await store.commit({ insert: { id: `${from.name}-${at}`, kind: 'a', at }, into: from })
    const idsIn = async (from: typeof ones): Promise<readonly string[]> => {
      const { items } = await store.find(from, { using: 'byKind', where: and(eq('kind', 'a'), range('at', { lt: 9 })), limit: 10 })
      return items.map(({ id }) => id)
    }
    t.deepEqual(await idsIn(ones), ['page-ones-0', 'page-ones-1', 'page-ones-2'])
    t.deepEqual(await idsIn(others), ['page-others-0', 'page-others-1', 'page-others-2'])
  })

  test('a scan and a walk of more than two thousand documents omit and repeat none', async t => {
    const store = await open(t)
    const ids = Array.from({ length: 2203 }, (_, n) => `id-${String(n).padStart(4, '0')}`)
    for (let at = 0; at < ids.length; at += 1000) {
      const items = ids.slice(at, at + 1000).map(id => ({ change: { insert: { id, state: 'live', created: '2026' }, into: notes } }))
      t.true((await store.commitEach<Note>(items)).every(({ ok }) => ok))
    }
    t.deepEqual(await idsOfScan(store, { using: 'byCreated', where: eq('state', 'live'), sort: newest }), ids.toReversed())
    t.deepEqual([...(await idsOfScan(store, { using: 'byCreated' }))].sort(), ids)
    const walked = await Array.fromAsync(store.walk(notes), ({ id }) => id)
    t.deepEqual(walked, ids)
    t.is(await store.count(notes, { using: 'byCreated', upTo: 5000 }), ids.length)
  })

  test('a walk returns every document once by id, from any id on, even of a collection without an index', async t => {
    const store = await open(t)
    const all = await fill(store)
    const bare = collection<{ readonly n: number }>()('bare')
    await store.declare([notes, bare])
    for (let n = 0; n < 450; n += 1) await store.commit({ insert: { id: `id-${String(n).padStart(4, '0')}`, n }, into: bare })
    await store.commit({ tombstone: 'id-0007', in: bare })
    const numbers: number[] = []
    for await (const { n } of store.walk(bare, 'id-0004')) numbers.push(n)
    t.deepEqual(
      numbers,
      Array.from({ length: 445 }, (_, at) => at + 5).filter(n => n !== 7),
    )
    const ids: string[] = []
    for await (const one of store.walk(notes)) {
      ids.push(one.id)
      t.deepEqual(
        one,
        all.find(({ id }) => id === one.id),
      )
    }
    t.deepEqual(ids, all.map(({ id }) => id).sort())
  })
}
