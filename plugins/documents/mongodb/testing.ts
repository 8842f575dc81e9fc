import { randomUUID } from 'node:crypto'
import type { ExecutionContext } from 'ava'
import { MongoClient } from 'mongodb'
import type { Metrics } from 'pounce/sdk'
import { countingIds, FixedClock, type StoreTools, silent } from 'pounce/sdk/testing'
import { MongodbDocuments } from './mongodb-documents.ts'
import type { Settings } from './settings.ts'

const nothing = (): void => undefined
const noMetrics: Metrics = { count: nothing, gauge: nothing, observe: nothing }

/** A database that goes away with the test. */
export const testDatabase = (t: ExecutionContext, uri: string): string => {
  const database = `pounce-${randomUUID().slice(0, 13)}`
  t.teardown(async () => {
    const client = new MongoClient(uri)
    await client.db(database).dropDatabase()
    await client.close()
  })
  return database
}

/** A started store; closed with the test. */
export const openStore = async (
  t: ExecutionContext,
  { uri, database, tools, settings }: { uri: string; database?: string; tools?: StoreTools; settings?: Partial<Settings> },
): Promise<MongodbDocuments> => {
  const { clock, ids } = tools ?? { clock: new FixedClock(), ids: countingIds() }
  const all: Settings = {
    uri,
    database: database ?? testDatabase(t, uri),
    timeoutMs: 4000,
    readTimeoutMs: 30_000,
    poolSize: 16,
    ...settings,
  }
  const store = new MongodbDocuments(all, ids, clock, silent, noMetrics)
  await store.start()
  t.teardown(() => store.dispose())
  return store
}
