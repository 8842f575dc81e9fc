import test from 'ava'
import { Collection as Driver } from 'mongodb'
import { liveTests, outboxContract } from 'pounce/sdk/testing'
import { openStore, testDatabase } from './testing.ts'

const { test: live, url } = liveTests(test, 'MONGODB')

outboxContract(live, (t, tools) => openStore(t, { uri: url('MONGODB'), tools }))

live('a consumer that is dropped while the consumers are being reported is absent', async t => {
  const database = testDatabase(t, url('MONGODB'))
  const { outbox } = await openStore(t, { uri: url('MONGODB'), database })
  const kept = { name: 'test/kept', types: '*' } as const
  const dropped = { name: 'test/dropped', types: '*' } as const
  await outbox.declareConsumers([kept, dropped])
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const { bulkWrite } = Driver.prototype
  const restore = () => {
    Driver.prototype.bulkWrite = bulkWrite
  }
  t.teardown(restore)
  Driver.prototype.bulkWrite = async function (this: Driver, ...args) {
    if (this.dbName === database && this.collectionName === '_consumers') {
      restore()
      begin()
      await released
    }
    return bulkWrite.apply(this, args)
  }
  const reporting = outbox.declareConsumers([kept, dropped])
  await begun
  const dropping = outbox.declareConsumers([kept])
  // A declaration that does not wait for the report ends meanwhile.
  for (let looks = 0; looks < 20; looks += 1) await outbox.absent()
  release()
  await Promise.all([reporting, dropping])
  t.deepEqual(await outbox.absent(), [{ consumer: 'test/dropped', waiting: 0, oldest: null }])
})
