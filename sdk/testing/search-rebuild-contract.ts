import type { SearchDocument, SearchIndex } from '../ports/search-index.ts'
import { Conflict } from '../problem.ts'
import type { ContractTest, TestContext } from './any-runner.ts'
import { found, put, request, searchDocument, searchId, streamOf, word } from './search-documents.ts'

/** Rebuilds of an index. Part of `searchIndexContract`. */
export function searchRebuildContract(test: ContractTest, makeIndex: (t: TestContext) => Promise<SearchIndex>): void {
  test('a rebuild replaces all entries and reports its progress', async t => {
    const index = await makeIndex(t)
    await index.apply([put(1, { name: 'stale' })])
    const counts: number[] = []
    const documents = Array.from({ length: 250 }, (_, n) => searchDocument(n + 10, { name: 'fresh' }))
    t.deepEqual(await index.rebuild(streamOf(documents), { progress: count => counts.push(count) }), { count: 250 })
    t.is(counts.at(-1), 250)
    t.deepEqual(
      counts,
      [...counts].sort((a, b) => a - b),
    )
    t.is((await index.search(request(word('fresh'), { size: 0 }))).total, 250)
    t.deepEqual(await found(index, word('stale')), [])
    await index.apply([put(1, { name: 'later' })])
    t.deepEqual(await found(index, word('later')), [1])
  })

  test('changes during a rebuild are visible immediately and after it, and override what the rebuild read earlier', async t => {
    const index = await makeIndex(t)
    await index.apply([put(1, { name: 'one' }), put(2, { name: 'two' }), put(5, { comments: ['before'] })])
    async function* documents(): AsyncGenerator<SearchDocument> {
      await index.apply([put(3, { name: 'three' }), put(2, { name: 'two again', revision: 2 }), { remove: searchId(1) }])
      await index.apply([put(5, { comments: ['after'] })])
      t.deepEqual(await found(index, { op: 'all' }), [2, 3, 5])
      yield searchDocument(1, { name: 'one' })
      yield searchDocument(2, { name: 'two' })
      yield searchDocument(4, { name: 'four' })
      yield searchDocument(5, { comments: ['before'] })
    }
    await index.rebuild(documents())
    t.deepEqual(await found(index, { op: 'all' }), [2, 3, 4, 5])
    t.deepEqual(await found(index, word('again')), [2])
    t.deepEqual(await found(index, word('after')), [5])
    t.deepEqual(await found(index, word('before')), [])
  })

  test('a second rebuild at the same time is refused, and so is emptying the index meanwhile', async t => {
    const index = await makeIndex(t)
    async function* documents(): AsyncGenerator<SearchDocument> {
      yield searchDocument(1, { name: 'first' })
      await t.throwsAsync(index.rebuild(streamOf([searchDocument(2, { name: 'second' })])), { instanceOf: Conflict })
      await t.throwsAsync(index.clear(), { instanceOf: Conflict })
    }
    t.deepEqual(await index.rebuild(documents()), { count: 1 })
    t.deepEqual(await found(index, { op: 'all' }), [1])
  })

  test('an identity changes with each rebuild and when the index is emptied, but not with changes of entries', async t => {
    const index = await makeIndex(t)
    const first = await index.identity?.()
    await index.apply([put(1, { name: 'one' })])
    t.is(await index.identity?.(), first)
    if (first === undefined) return
    await index.rebuild(streamOf([searchDocument(1, { name: 'one' })]))
    const second = await index.identity?.()
    await index.clear()
    t.is(new Set([first, second, await index.identity?.()]).size, 3)
  })

  test('a rebuild that fails or is aborted leaves the index unchanged, and can be repeated', async t => {
    const index = await makeIndex(t)
    await index.apply([put(1, { name: 'one' })])
    const failure = new Error('the store became unavailable')
    async function* failing(): AsyncGenerator<SearchDocument> {
      yield searchDocument(2, { name: 'two' })
      throw failure
    }
    t.is(await t.throwsAsync(index.rebuild(failing())), failure)
    const controller = new AbortController()
    async function* aborted(): AsyncGenerator<SearchDocument> {
      yield searchDocument(2, { name: 'two' })
      controller.abort(failure)
      yield searchDocument(3, { name: 'three' })
    }
    t.is(await t.throwsAsync(index.rebuild(aborted(), { signal: controller.signal })), failure)
    t.deepEqual(await found(index, { op: 'all' }), [1])
    await index.rebuild(streamOf([searchDocument(2)]))
    t.deepEqual(await found(index, { op: 'all' }), [2])
  })
}
