import { randomUUID } from 'node:crypto'
import { MongoClient } from 'mongodb'
import type { Clock, Metrics } from 'pounce/sdk'
import { FixedClock, silent, type TestContext } from 'pounce/sdk/testing'
import { MongodbDocuments } from './mongodb-documents.ts'
import type { KernelTimes } from './other-kernels.ts'
import type { Settings } from './settings.ts'

const nothing = (): void => undefined
const noMetrics: Metrics = { count: nothing, gauge: nothing, observe: nothing }

/** A database that is dropped at the end of the test. */
export const testDatabase = (t: TestContext, uri: string): string => {
  const database = `pounce-${randomUUID().slice(0, 13)}`
  t.teardown(async () => {
    const client = new MongoClient(uri)
    await client.db(database).dropDatabase()
    await client.close()
  })
  return database
}

interface Opening {
  readonly uri: string
  /** Where the database is dropped, when that is a different address. */
  readonly server?: string
  readonly database?: string
  readonly tools?: { readonly clock: Clock }
  readonly settings?: Partial<Settings>
  readonly times?: KernelTimes
}

/** The clock of the machine. */
export const realTools = { clock: { now: () => new Date() } }

/** A started store, closed at the end of the test. */
export const openStore = async (
  t: TestContext,
  { uri, server = uri, database, tools, settings, times }: Opening,
): Promise<MongodbDocuments> => {
  const { clock } = tools ?? { clock: new FixedClock() }
  const all: Settings = {
    uri,
    database: database ?? testDatabase(t, server),
    timeoutMs: 60_000,
    readTimeoutMs: 30_000,
    poolSize: 16,
    ...settings,
  }
  const store = new MongodbDocuments(all, clock, silent, noMetrics, times)
  await store.start()
  t.teardown(() => store.dispose())
  return store
}
