import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'ava'
import { type EventType, event } from 'pounce/sdk'
import { notes, outboxContract } from 'pounce/sdk/testing'
import { openStore } from '../../../test/support/sqlite-store.ts'
import { tempFolder } from '../../../test/support/temp-folder.ts'
import type { SqliteDocuments } from './sqlite-documents.ts'

outboxContract(test, (t, tools) => openStore(t, { tools }))

const all = { name: 'test/all', types: '*' } as const

const created = { name: 'test/created', types: ['dataset.created'] } as const

const leave = (store: SqliteDocuments, n: number, type: EventType & ('dataset.created' | 'dataset.trashed')) =>
  store.commit({ insert: { id: `n${n}` }, into: notes }, [event(type, { kind: 'dataset', id: `d${n}` }, {})])

const dealWithAll = async (store: SqliteDocuments, consumer: string): Promise<readonly string[]> => {
  const claimed = await store.outbox.claim(consumer, { limit: 1000, leaseMs: 1000, owner: 'test' })
  await store.outbox.done(
    consumer,
    claimed.map(({ event: { id } }) => id),
  )
  return claimed.map(({ event: { subject } }) => subject.id)
}

const eventsIn = (folder: string): number => {
  const db = new DatabaseSync(join(folder, 'pounce.db'), { readOnly: true })
  const row = db.prepare('SELECT count(*) AS events FROM outbox_events').get()
  db.close()
  return Number(row?.['events'])
}

test('an absent consumer keeps its own events and no others, until it is removed', async t => {
  const folder = await tempFolder(t)
  const store = await openStore(t, { settings: { folder } })
  await store.declare([notes])
  await store.outbox.declareConsumers([all, created])
  await leave(store, 0, 'dataset.created')
  await store.outbox.declareConsumers([all])
  for (let n = 1; n <= 40; n++) await leave(store, n, n % 10 === 0 ? 'dataset.created' : 'dataset.trashed')
  t.is((await dealWithAll(store, 'test/all')).length, 41)
  t.is((await store.outbox.absent())[0]?.waiting, 5)
  t.is(eventsIn(folder), 5)
  await store.outbox.forget('test/created')
  t.is(eventsIn(folder), 0)
})

test('the upgrade of an older file keeps the pending events of absent consumers', async t => {
  const folder = await tempFolder(t)
  const before = await openStore(t, { settings: { folder } })
  await before.declare([notes])
  await before.outbox.declareConsumers([all, created])
  await leave(before, 1, 'dataset.created')
  await before.dispose()
  const db = new DatabaseSync(join(folder, 'pounce.db'))
  db.exec('DROP INDEX outbox_absent; ALTER TABLE outbox_consumers DROP COLUMN types; ALTER TABLE outbox_consumers DROP COLUMN absent')
  db.close()
  const store = await openStore(t, { settings: { folder } })
  await store.declare([notes])
  await store.outbox.declareConsumers([all])
  t.deepEqual(await dealWithAll(store, 'test/all'), ['d1'])
  t.like((await store.outbox.absent())[0], { consumer: 'test/created', waiting: 1 })
  await store.outbox.declareConsumers([all, created])
  t.deepEqual(await dealWithAll(store, 'test/created'), ['d1'])
  t.is(eventsIn(folder), 0)
})
