import { event, type Installation, type Metrics } from 'pounce/sdk'
import { countingIds, FixedClock, notes, silent } from 'pounce/sdk/testing'
import { SqliteDocuments } from './sqlite-documents.ts'

/** Commits as fast as it can and prints each id once it is acknowledged, until it is killed. For `durability.test.ts`. */
const nothing = (): void => undefined
const metrics: Metrics = { count: nothing, gauge: nothing, observe: nothing }
const [folder = '', round = ''] = process.argv.slice(2)
const settings = { folder, cacheMiB: 4, maxSizeMiB: 0, inlineRows: 2000, readTimeoutMs: 10_000, maxBackups: 2 }
const store = new SqliteDocuments(settings, {} as Installation, countingIds(), new FixedClock(), silent, metrics)
await store.start()
await store.declare([notes])
await store.outbox.declareConsumers([{ name: 'test/all', types: '*' }])

const writer = async (name: string): Promise<never> => {
  for (let n = 0; ; n++) {
    const id = `${round}-${name}-${n}`
    const says = [event('dataset.created', { kind: 'dataset', id }, {})]
    await store.commit({ insert: { id, name: id, spaces: [name, 'all'], state: 'live' }, into: notes }, says)
    process.stdout.write(`${id}\n`)
  }
}
await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(writer))
