import { randomBytes } from 'node:crypto'
import test, { type TestFn } from 'ava'
import { MongoClient } from 'mongodb'
import { bootForTest, liveTests, type TestServer } from 'pounce/sdk/testing'
import { entryPlugins, entryTests } from '../support/entries.ts'

const { test: live, url } = liveTests(test, 'MONGODB')
const database = `pounce-${randomBytes(6).toString('hex')}`
let server: TestServer

/** Hooks run even where every test is skipped. */
const isLive = process.env['POUNCE_TEST_MONGODB_URL'] !== undefined
test.before(async () => {
  if (!isLive) return
  const config = { access: { private: true }, documents: { mongodb: { uri: url('MONGODB'), database } } }
  server = await bootForTest({ plugins: ['documents.mongodb', ...entryPlugins], config })
})
test.after.always(async () => {
  await server?.stop()
  if (!isLive) return
  const client = new MongoClient(url('MONGODB'))
  await client.db(database).dropDatabase()
  await client.close()
})

// Run serially: each test waits until no event is pending, including those of other tests.
for (const how of ['sorted', 'indexed'] as const) entryTests((isLive ? test.serial : live) as TestFn, () => server, how)
