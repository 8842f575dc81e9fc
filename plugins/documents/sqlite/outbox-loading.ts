import type { Connection } from 'pounce/sdk/sqlite'
import { inMemory, type OutboxConsumer } from './outbox-consumer.ts'
import * as tables from './outbox-tables.ts'

/** The id before a low mark: what comes after it is at or beyond the mark. */
const justBelow = (low: string): string => (low.endsWith('+') ? low.slice(0, -1) : (BigInt(`0x${low}`) - 1n).toString(16).padStart(24, '0'))

/** Reads where a consumer stands; leases that this process gave out go on. */
export const resume = (db: Connection, consumer: OutboxConsumer, former: OutboxConsumer | undefined): void => {
  for (const id of tables.passedBy(db, consumer.id)) consumer.passed.add(id)
  for (const { event, attempts, due } of tables.retriesOf(db, consumer.id)) consumer.retries.set(event, { attempts, due })
  for (const { audience, events } of tables.countFrom(db, consumer.low)) {
    if (tables.isFor(audience, consumer.id)) consumer.waiting += events
  }
  consumer.waiting += consumer.retries.size - consumer.passed.size
  consumer.loadedTo = justBelow(consumer.low)
  for (const [id, lease] of former?.leases ?? []) {
    const isOpen = lease.isRetry ? consumer.retries.has(id) : id >= consumer.low && !consumer.passed.has(id)
    if (isOpen) consumer.leases.set(id, lease)
  }
}

/** Reads events that are not in memory yet, until there are enough to choose from. */
export const loadMore = (db: Connection, consumer: OutboxConsumer, limit: number): void => {
  while (!consumer.isLive && consumer.pendingCount < Math.min(limit + consumer.leases.size, inMemory)) {
    const events = tables.eventsAfter(db, consumer.loadedTo, 500)
    for (const { event, audience } of events) {
      if (tables.isFor(audience, consumer.id) && !consumer.leases.has(event.id)) consumer.push(event)
      else consumer.loadedTo = event.id
    }
    consumer.isLive = events.length < 500
  }
}
