import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { and, collection, type DocumentStore, eq, event, type Find, type Installation, isIn, or } from 'pounce/sdk'
import { countingIds, silent } from 'pounce/sdk/testing'
import { SqliteDocuments } from '../../plugins/documents/sqlite/sqlite-documents.ts'

/**
 * Measures the embedded document store alone: `node scripts/bench/limits-documents.ts [sizes…]`, sizes 1000 and 100000 by default.
 * Datasets are in one or two of 1,000 spaces; users belong to 3, 30 or 300 of them and page through the newest datasets visible to them.
 */
interface Dataset {
  readonly name: string
  readonly description: string
  readonly state: string
  readonly created: string
  readonly author: string
  readonly isPublic: boolean
  readonly spaces: readonly string[]
}

const datasets = collection<Dataset>('datasets', {
  byCreated: { on: ['state', 'created'] },
  bySpace: { on: ['state', 'spaces', 'created'], array: 'spaces' },
  byAuthor: { on: ['state', 'author', 'created'] },
  byPublic: { on: ['state', 'isPublic', 'created'] },
})

const spaces = 1000
const nothing = (): void => undefined
const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

/** A deterministic random number generator. */
const random = (() => {
  let state = 42
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
})()

const openStore = async (folder: string): Promise<SqliteDocuments> => {
  const settings = { folder, cacheMiB: 32, maxSizeMiB: 0, inlineRows: 2000, readTimeoutMs: 30_000, maxBackups: 2 }
  const metrics = { count: nothing, gauge: nothing, observe: nothing }
  const store = new SqliteDocuments(settings, {} as Installation, countingIds(), { now: () => new Date() }, silent, metrics)
  await store.start()
  await store.declare([datasets])
  return store
}

const dataset = (n: number) => ({
  id: n.toString(16).padStart(24, '0'),
  name: `dataset ${n}`,
  description: 'z'.repeat(150),
  state: 'live',
  created: new Date(1.6e12 + n * 1000).toISOString(),
  author: `u${random(spaces)}`,
  isPublic: random(1000) === 0,
  spaces: n % 2 ? [`s${random(spaces)}`, `s${random(spaces)}`] : [`s${random(spaces)}`],
})

const fill = async (store: DocumentStore, size: number): Promise<void> => {
  const start = performance.now()
  for (let from = 0; from < size; from += 1000) {
    await store.commitEach<Dataset>(Array.from({ length: 1000 }, (_, n) => ({ change: { insert: dataset(from + n), into: datasets } })))
  }
  print(`${size} datasets: ${((size / (performance.now() - start)) * 1000).toFixed(0)} inserts/s in batches of 1,000, 4 indexes`)
}

/** Repeats `work` for a while; prints the median and 99th percentile of its duration in milliseconds. */
const measure = async (label: string, work: () => Promise<unknown>, ms = 1500): Promise<number> => {
  for (let n = 0; n < 20; n++) await work()
  const times: number[] = []
  for (const end = performance.now() + ms; performance.now() < end; ) {
    const start = performance.now()
    await work()
    times.push(performance.now() - start)
  }
  times.sort((a, b) => a - b)
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? 0
  print(`${label.padEnd(44)} p50 ${at(0.5).toFixed(3)} ms  p99 ${at(0.99).toFixed(3)} ms`)
  return at(0.5)
}

const listing = (spaceCount: number, limit: number, order: Find['sort']): Find => {
  const mine = Array.from({ length: spaceCount }, () => `s${random(spaces)}`)
  return {
    using: ['byCreated', 'bySpace', 'byAuthor', 'byPublic'],
    where: and(eq('state', 'live'), or(isIn('spaces', mine), eq('author', `u${random(spaces)}`), eq('isPublic', true))),
    ...(order ? { sort: order } : {}),
    limit,
  }
}

/** Medians of the queries that returned full pages: others do less work when there are fewer documents. */
const reads = async (store: DocumentStore, size: number): Promise<Readonly<Record<string, number>>> => {
  const medians: Record<string, number> = {}
  const list = async (label: string, query: () => Find): Promise<void> => {
    let isFull = true
    const median = await measure(`${size}: ${label}`, async () => {
      const made = query()
      const { items } = await store.find(datasets, made)
      isFull &&= items.length === made.limit
    })
    if (isFull) medians[label] = median
  }
  const newest = { by: 'created', order: 'descending' } as const
  for (const limit of [12, 50]) {
    for (const count of [3, 30, 300]) {
      const label = `list ${limit} of ${count} spaces`
      await list(label, () => listing(count, limit, newest))
      const middle = { after: [dataset(size >> 1).created, dataset(size >> 1).id] } as const
      await list(`${label}, deep`, () => ({ ...listing(count, limit, newest), ...middle }))
    }
  }
  medians['get'] = await measure(`${size}: get`, () => store.get(datasets, random(size).toString(16).padStart(24, '0')))
  return medians
}

const writes = async (store: DocumentStore, clients: number): Promise<void> => {
  const end = performance.now() + 3000
  let commits = 0
  const says = [event('dataset.updated', { kind: 'dataset', id: 'd' }, { fields: ['name'] })]
  const client = async (): Promise<void> => {
    while (performance.now() < end) {
      const id = random(1000).toString(16).padStart(24, '0')
      await store.commit<Dataset>({ update: id, in: datasets, set: { name: `renamed ${commits}` } }, says)
      commits += 1
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  print(`${clients} clients: ${(commits / 3).toFixed(0)} commits/s with one event each`)
}

/** Six consumers process everything in batches of 200, while 32 clients commit. */
const outbox = async (store: DocumentStore): Promise<void> => {
  const names = Array.from({ length: 6 }, (_, n) => `bench/${n}`)
  await store.outbox.declareConsumers(names.map(name => ({ name, types: '*' })))
  let isRunning = true
  let settled = 0
  const consume = async (name: string): Promise<void> => {
    for (;;) {
      const deliveries = await store.outbox.claim(name, { limit: 200, leaseMs: 30_000, owner: 'bench' })
      if (deliveries.length === 0 && !isRunning) return
      await store.outbox.done(
        name,
        deliveries.map(delivery => delivery.event.id),
      )
      settled += deliveries.length
      if (deliveries.length === 0) await new Promise(setImmediate)
    }
  }
  const consumers = names.map(consume)
  await writes(store, 32)
  const left = Object.values(await store.outbox.waiting()).reduce((sum, count) => sum + count, 0)
  isRunning = false
  await Promise.all(consumers)
  print(`   with 6 consumers: ${(settled / 3).toFixed(0)} deliveries settled/s, ${left} waiting at the end`)
}

const sizes = process.argv.slice(2).map(Number)
const results: Readonly<Record<string, number>>[] = []
for (const size of sizes.length > 0 ? sizes : [1000, 100_000]) {
  const folder = await mkdtemp(join(tmpdir(), 'bench-documents-'))
  const store = await openStore(folder)
  await fill(store, size)
  results.push(await reads(store, size))
  for (const clients of [1, 4, 32]) await writes(store, clients)
  await outbox(store)
  await store.dispose()
  await rm(folder, { recursive: true })
}
const [first, last] = [results[0], results.at(-1)]
if (first && last && first !== last) {
  for (const [label, median] of Object.entries(first))
    print(`${label.padEnd(32)} largest / smallest: ${((last[label] ?? 0) / median).toFixed(2)}`)
}
