import type { AbsentConsumer } from 'pounce/sdk'
import type { Connection } from 'pounce/sdk/sqlite'
import type { OutboxConsumer } from './outbox-consumer.ts'
import { readEvent } from './outbox-tables.ts'

const countedTo = 10_000

/** What is kept for a consumer that is not declared. */
export const absentOf = (db: Connection, { id, name, low }: OutboxConsumer): AbsentConsumer => {
  const sql = `SELECT count(*), min(event) FROM (
    SELECT e.id AS event FROM outbox_events e WHERE e.id >= ? AND e.audience LIKE ?
      AND NOT EXISTS (SELECT 1 FROM outbox_passed p WHERE p.consumer = ? AND p.event = e.id)
    UNION SELECT event FROM outbox_failed WHERE consumer = ? AND parked_at IS NULL LIMIT ?+0)`
  const [count, oldest] = db.get(sql, low, `%,${id},%`, id, id, countedTo) ?? []
  const event = typeof oldest === 'string' ? readEvent(db, oldest) : undefined
  return { consumer: name, waiting: Number(count), oldest: event?.at ?? null }
}
