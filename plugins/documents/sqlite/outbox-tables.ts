import type { AnyEvent } from 'pounce/sdk'
import type { Connection } from 'pounce/sdk/sqlite'
import { type Consumer, type DeadLetter, deepFreeze } from 'pounce/sdk/store-kit'
import { OutboxConsumer } from './outbox-consumer.ts'

/**
 * The outbox's tables. `audience` lists the IDs of the consumers that were declared for the event's type. `absent` is 1 for a consumer that
 * is currently not declared: its events stay until it is removed, even when all others have passed them.
 */
const outboxDefinitions = `
CREATE TABLE IF NOT EXISTS outbox_consumers(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, low TEXT NOT NULL,
  types TEXT NOT NULL DEFAULT '[]', absent INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS outbox_events(id TEXT PRIMARY KEY, audience TEXT NOT NULL, event TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS outbox_passed(consumer INTEGER, event TEXT, PRIMARY KEY(consumer, event)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS outbox_failed(
  event TEXT, consumer INTEGER, attempts INTEGER NOT NULL, due REAL NOT NULL, error TEXT NOT NULL, parked_at TEXT,
  PRIMARY KEY(event, consumer)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS outbox_parked ON outbox_failed(parked_at) WHERE parked_at IS NOT NULL;`

/** Creates the tables, and upgrades those of older versions. */
export const prepareTables = (db: Connection): void => {
  db.exec(outboxDefinitions)
  const columns = db.all("SELECT name FROM pragma_table_info('outbox_consumers')").map(([name]) => name)
  if (!columns.includes('types')) db.exec("ALTER TABLE outbox_consumers ADD COLUMN types TEXT NOT NULL DEFAULT '[]'")
  if (!columns.includes('absent')) db.exec('ALTER TABLE outbox_consumers ADD COLUMN absent INTEGER NOT NULL DEFAULT 0')
  db.exec('CREATE INDEX IF NOT EXISTS outbox_absent ON outbox_consumers(low) WHERE absent = 1')
}

/** SQL condition for an event that is no longer needed once all declared consumers have passed it. */
const isSpent = `NOT EXISTS (SELECT 1 FROM outbox_failed WHERE event = outbox_events.id)
  AND NOT EXISTS (SELECT 1 FROM outbox_consumers c WHERE c.absent = 1 AND c.low <= outbox_events.id
    AND outbox_events.audience LIKE '%,' || c.id || ',%'
    AND NOT EXISTS (SELECT 1 FROM outbox_passed WHERE consumer = c.id AND event = outbox_events.id))`

/** A failure as stored; `parkedAt` is null while it will be retried. */
export interface DeliveryFailure {
  readonly consumer: number
  readonly event: string
  readonly attempts: number
  readonly due: number
  readonly error: string
  readonly parkedAt: string | null
}

/** Parses an event's stored text; frozen, since several consumers share it. */
export const eventOf = (text: unknown): AnyEvent => deepFreeze(JSON.parse(String(text)) as AnyEvent)

export const insertEvent = (db: Connection, id: string, audience: string, text: string): void => {
  db.run('INSERT INTO outbox_events(id, audience, event) VALUES (?, ?, ?)', id, audience, text)
}

/** True when a consumer belongs to an audience, which is a list of IDs between commas. */
export const isFor = (audience: string, consumer: number): boolean => audience.includes(`,${consumer},`)

export const readEvent = (db: Connection, id: string): AnyEvent | undefined => {
  const row = db.get('SELECT event FROM outbox_events WHERE id = ?', id)
  return row && eventOf(row[0])
}

/** Events after an ID, oldest first, with their audience. */
export const eventsAfter = (db: Connection, id: string, limit: number): readonly { event: AnyEvent; audience: string }[] =>
  db
    .all('SELECT event, audience FROM outbox_events WHERE id > ? ORDER BY id LIMIT ?+0', id, limit)
    .map(([text, audience]) => ({ event: eventOf(text), audience: String(audience) }))

export const audienceOf = (db: Connection, id: string): string | undefined => {
  const row = db.get('SELECT audience FROM outbox_events WHERE id = ?', id)
  return row && String(row[0])
}

/** The newest ID that an event has or that a consumer has passed: new IDs are above it, even when the clock was set back. */
export const newestMark = (db: Connection): string => {
  const [event, low] =
    db.get("SELECT (SELECT coalesce(max(id), '') FROM outbox_events), (SELECT coalesce(max(low), '') FROM outbox_consumers)") ?? []
  return [String(low).replace('+', ''), String(event)].sort().at(-1) ?? ''
}

/** Number of events from an ID on, by audience. */
export const countFrom = (db: Connection, id: string): readonly { audience: string; events: number }[] =>
  db
    .all('SELECT audience, count(*) FROM outbox_events WHERE id >= ? GROUP BY audience', id)
    .map(([audience, events]) => ({ audience: String(audience), events: Number(events) }))

export const insertPassed = (db: Connection, consumer: number, event: string): void => {
  db.run('INSERT OR IGNORE INTO outbox_passed(consumer, event) VALUES (?, ?)', consumer, event)
}

export const passedBy = (db: Connection, consumer: number): readonly string[] =>
  db.all('SELECT event FROM outbox_passed WHERE consumer = ?', consumer).map(([event]) => String(event))

export const raiseLow = (db: Connection, consumer: number, low: string, hasPassed: boolean): void => {
  db.run('UPDATE outbox_consumers SET low = ? WHERE id = ?', low, consumer)
  if (hasPassed) db.run('DELETE FROM outbox_passed WHERE consumer = ? AND event < ?', consumer, low)
}

export const writeFailure = (db: Connection, { consumer, event, attempts, due, error, parkedAt }: DeliveryFailure): void => {
  const sql = 'INSERT OR REPLACE INTO outbox_failed(event, consumer, attempts, due, error, parked_at) VALUES (?, ?, ?, ?, ?, ?)'
  db.run(sql, event, consumer, attempts, due, error, parkedAt)
}

/** Deletes a failure, and the event with it when no other failure needs it and all consumers have passed it. */
export const removeFailure = (db: Connection, consumer: number, event: string, prunedTo: string): void => {
  db.run('DELETE FROM outbox_failed WHERE event = ? AND consumer = ?', event, consumer)
  if (event >= prunedTo) return
  db.run(`DELETE FROM outbox_events WHERE id = ? AND ${isSpent}`, event)
}

export const retriesOf = (db: Connection, consumer: number): readonly { event: string; attempts: number; due: number }[] =>
  db
    .all('SELECT event, attempts, due FROM outbox_failed WHERE consumer = ? AND parked_at IS NULL', consumer)
    .map(([event, attempts, due]) => ({ event: String(event), attempts: Number(attempts), due: Number(due) }))

export const isDeadLetter = (db: Connection, consumer: number, event: string): boolean =>
  db.get('SELECT 1 FROM outbox_failed WHERE event = ? AND consumer = ? AND parked_at IS NOT NULL', event, consumer) !== undefined

/** Dead letters, newest first. */
export const readDeadLetters = (db: Connection, limit: number): readonly DeadLetter[] => {
  const sql = `SELECT e.event, c.name, f.attempts, f.error, f.parked_at
    FROM outbox_failed f JOIN outbox_events e ON e.id = f.event JOIN outbox_consumers c ON c.id = f.consumer
    WHERE f.parked_at IS NOT NULL ORDER BY f.parked_at DESC, f.event DESC LIMIT ?+0`
  return db.all(sql, limit).map(([event, consumer, attempts, error, parkedAt]) => ({
    event: eventOf(event),
    consumer: String(consumer),
    attempts: Number(attempts),
    error: String(error),
    parkedAt: String(parkedAt),
  }))
}

/** Deletes events in `[from, to)` that have no failures and that no absent consumer still needs. */
export const pruneEvents = (db: Connection, from: string, to: string): void => {
  db.run(`DELETE FROM outbox_events WHERE id >= ? AND id < ? AND ${isSpent}`, from, to)
}

/** Deletes a consumer and its failures; its events are deleted by pruning. */
export const forgetConsumer = (db: Connection, id: number): void => {
  db.run('DELETE FROM outbox_consumers WHERE id = ?', id)
  db.run('DELETE FROM outbox_passed WHERE consumer = ?', id)
  db.run('DELETE FROM outbox_failed WHERE consumer = ?', id)
}

const typesOf = (text: unknown): readonly string[] | '*' => JSON.parse(String(text)) as readonly string[] | '*'

/** Creates new consumers, positioned at `end`; those that are not named become absent. */
export const declareConsumers = (
  db: Connection,
  consumers: readonly Consumer[],
  end: string,
): { readonly declared: Map<string, OutboxConsumer>; readonly absent: Map<string, OutboxConsumer> } => {
  // A consumer that is up to date may have passed events beyond its low mark that were pruned since: they must not be counted.
  db.run('DELETE FROM outbox_passed WHERE NOT EXISTS (SELECT 1 FROM outbox_events WHERE id = outbox_passed.event)')
  const known = new Map(db.all('SELECT name, id, low, types FROM outbox_consumers').map(row => [String(row[0]), row]))
  const declared = new Map<string, OutboxConsumer>()
  for (const { name, types } of consumers) {
    const [, id = db.insert('INSERT INTO outbox_consumers(name, low) VALUES (?, ?)', name, end), low = end] = known.get(name) ?? []
    db.run('UPDATE outbox_consumers SET types = ?, absent = 0 WHERE id = ?', JSON.stringify(types), Number(id))
    declared.set(name, new OutboxConsumer(Number(id), name, types, String(low)))
    known.delete(name)
  }
  const absent = new Map<string, OutboxConsumer>()
  for (const [name, [, id, low, types]] of known) {
    db.run('UPDATE outbox_consumers SET absent = 1 WHERE id = ?', Number(id))
    absent.set(name, new OutboxConsumer(Number(id), name, typesOf(types), String(low)))
  }
  return { declared, absent }
}
