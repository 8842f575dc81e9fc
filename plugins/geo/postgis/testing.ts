import { randomUUID } from 'node:crypto'
import pg from 'pg'
import type { TestContext } from 'pounce/sdk/testing'
import { PostgisPoints } from './postgis-points.ts'
import type { Settings } from './settings.ts'

/** Runs statements on a separate connection. */
export const onServer = async <R>(url: string, work: (client: pg.Client) => Promise<R>): Promise<R> => {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** The name of a schema that is dropped at the end of the test. */
export const testSchema = (t: TestContext, url: string): string => {
  const schema = `pounce_${randomUUID().slice(0, 13).replaceAll('-', '_')}`
  t.teardown(() => onServer(url, client => client.query(`drop schema if exists "${schema}" cascade`)))
  return schema
}

interface Opening {
  readonly url: string
  /** Where the schema is dropped, when that is a different address. */
  readonly server?: string
  readonly schema?: string
  readonly settings?: Partial<Settings>
}

/** A started store, closed at the end of the test. */
export const openStore = async (t: TestContext, { url, server = url, schema, settings }: Opening): Promise<PostgisPoints> => {
  const all: Settings = {
    url,
    schema: schema ?? testSchema(t, server),
    timeoutMs: 30_000,
    cursorIdleMs: 5000,
    poolSize: 8,
    ...settings,
  }
  const store = new PostgisPoints(all)
  await store.start()
  t.teardown(() => store.dispose())
  return store
}
