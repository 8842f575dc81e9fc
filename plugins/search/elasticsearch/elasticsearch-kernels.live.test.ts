import test, { type ExecutionContext } from 'ava'
import { Conflict, type SearchIndex } from 'pounce/sdk'
import type { IndexChange, SearchDocument } from 'pounce/sdk/search'
import { liveTests } from '../../../sdk/testing/live-server.ts'
import { found, put, request, searchDocument, searchId, streamOf, word } from '../../../sdk/testing/search-documents.ts'
import { flakyProxy } from '../../../test/support/flaky-proxy.ts'
import { until } from '../../../test/support/until.ts'
import { IndexNames } from './index-names.ts'
import { ownPrefix, startedIndex } from './test-index.ts'

const { test: live, url } = liveTests(test, 'ELASTICSEARCH')

async function kernels(t: ExecutionContext, count: number): Promise<{ readonly all: readonly SearchIndex[]; readonly prefix: string }> {
  const prefix = ownPrefix(t, url('ELASTICSEARCH'))
  const all = await Promise.all(Array.from({ length: count }, () => startedIndex(t, url('ELASTICSEARCH'), { index: prefix })))
  return { all, prefix }
}

async function indexesOf(prefix: string): Promise<readonly string[]> {
  const answer = await fetch(`${url('ELASTICSEARCH')}/${new IndexNames(prefix).all}`)
  return Object.keys((await answer.json()) as object)
}

live('kernels that start together on a new server share one index', async t => {
  const { all, prefix } = await kernels(t, 4)
  await Promise.all(all.map((index, n) => index.apply([put(n + 1)])))
  for (const index of all) t.deepEqual(await found(index, { op: 'all' }), [1, 2, 3, 4])
  t.is((await indexesOf(prefix)).length, 1)
})

live('changes by one kernel during a rebuild by another are in the new index, and override what the rebuild read', async t => {
  const { all } = await kernels(t, 2)
  const [one, two] = all as [SearchIndex, SearchIndex]
  await two.apply([put(1, { name: 'one' }), put(2, { name: 'two' }), put(3, { name: 'three' })])
  async function* documents(): AsyncGenerator<SearchDocument> {
    yield searchDocument(1, { name: 'one' })
    await two.apply([{ remove: searchId(1) }, put(2, { name: 'two again', revision: 2 }), put(4, { name: 'four' })])
    await two.apply([put(3, { name: 'three', isListed: false })])
    t.deepEqual(await found(one, { op: 'all' }), [2, 4])
    yield searchDocument(2, { name: 'two' })
    yield searchDocument(3, { name: 'three' })
  }
  await one.rebuild(documents())
  for (const index of all) {
    t.deepEqual(await found(index, { op: 'all' }), [2, 4])
    t.deepEqual(await found(index, word('again')), [2])
  }
})

live('rebuilds during continuous writes lose no document and restore no deleted one', async t => {
  const { all } = await kernels(t, 3)
  const [builder, ...writers] = all as [SearchIndex, ...SearchIndex[]]
  const store = new Map<number, SearchDocument>()
  let isOver = false
  const write = async (index: SearchIndex, first: number): Promise<void> => {
    for (let turn = 0; !isOver; turn += 1) {
      const n = first + (turn % 40)
      const isGone = turn > 40 && n % 7 === 0
      const before = store.get(n)
      const document = searchDocument(n, { name: `turn ${turn}`, revision: (before?.revision ?? 0) + 1, isListed: n % 5 !== turn % 5 })
      if (isGone) store.delete(n)
      else store.set(n, document)
      const change: IndexChange = isGone ? { remove: searchId(n) } : { put: document }
      await index.apply([change])
      if (isGone) continue
      const hits = await found(index, { op: 'field', field: 'name', is: 'equals', values: [`turn ${turn}`] })
      t.is(hits.includes(n), document.isListed, `${n} after turn ${turn}`)
    }
  }
  // Each writer has its own range of IDs, and never adds a removed ID again.
  const writing = writers.map((index, at) => write(index, 1000 * (at + 1)))
  async function* documents(): AsyncGenerator<SearchDocument> {
    for (const document of [...store.values()]) yield document
  }
  for (let times = 0; times < 4; times += 1) await builder.rebuild(documents())
  isOver = true
  await Promise.all(writing)
  const expected = [...store.values()].filter(({ isListed }) => isListed)
  const { hits } = await builder.search(request({ op: 'all' }))
  t.deepEqual(hits.map(({ id }) => id).sort(), expected.map(({ id }) => id).sort())
  for (const { name, id } of expected) {
    const named = await builder.search(request({ op: 'field', field: 'name', is: 'equals', values: [name] }))
    t.true(
      named.hits.some(hit => hit.id === id),
      `${name} of ${id}`,
    )
  }
})

live('only one kernel rebuilds at a time', async t => {
  const { all } = await kernels(t, 2)
  const [one, two] = all as [SearchIndex, SearchIndex]
  async function* documents(): AsyncGenerator<SearchDocument> {
    yield searchDocument(1)
    await t.throwsAsync(two.rebuild(streamOf([searchDocument(2)])), { instanceOf: Conflict })
    await t.throwsAsync(two.clear(), { instanceOf: Conflict })
    t.is(await two.needsRebuild?.(), false)
  }
  t.is(await two.needsRebuild?.(), true)
  await one.rebuild(documents())
  t.deepEqual(await found(two, { op: 'all' }), [1])
  t.is(await two.needsRebuild?.(), false)
})

live('the rebuild of a disconnected kernel is taken over, and can no longer complete', async t => {
  const prefix = ownPrefix(t, url('ELASTICSEARCH'))
  const proxy = await flakyProxy(t, url('ELASTICSEARCH'))
  const vanishing = await startedIndex(t, proxy.urlFor(url('ELASTICSEARCH')), { index: prefix, writeTimeoutMs: 1000 })
  const other = await startedIndex(t, url('ELASTICSEARCH'), { index: prefix })
  await other.apply([put(1)])
  const { promise: isTaken, resolve: taken } = Promise.withResolvers<void>()
  const { promise: isOn, resolve: on } = Promise.withResolvers<void>()
  async function* documents(): AsyncGenerator<SearchDocument> {
    for (let n = 0; n < 600; n += 1) yield searchDocument(2000 + n)
    on()
    await isTaken
    yield searchDocument(2)
  }
  t.teardown(async () => taken())
  const failing = t.throwsAsync(vanishing.rebuild(documents()))
  await isOn
  await proxy.become('refuse')
  // A heartbeat may still have been in transit.
  await until('the lock to expire', async () => await other.needsRebuild?.())
  t.deepEqual(await found(other, { op: 'all' }), [1])
  await other.rebuild(streamOf([searchDocument(1), searchDocument(3)]))
  await proxy.become('pass')
  taken()
  await failing
  t.deepEqual(await found(other, { op: 'all' }), [1, 3])
  t.deepEqual(await found(vanishing, { op: 'all' }), [1, 3])
  t.is((await indexesOf(prefix)).length, 1)
})
