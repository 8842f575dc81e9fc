import type { Connection } from 'pounce/sdk/sqlite'
import type { PreparedWrite, WriteRequest } from './group-commit.ts'
import type { OutboxConsumer } from './outbox-consumer.ts'
import * as tables from './outbox-tables.ts'

/** The outcome of one event. */
export type DeliveryOutcome =
  | { readonly id: string; readonly how: 'done' }
  | { readonly id: string; readonly how: 'retry'; readonly error: string; readonly due: number }
  | { readonly id: string; readonly how: 'park'; readonly error: string; readonly at: string }

/** The outbox functions that an acknowledgement needs. */
export interface AckOutbox {
  connection(): Connection
  consumer(name: string): OutboxConsumer | undefined
  /** ID of the newest durable event. */
  newest(): string
  prunedTo(): string
  /** Deletes events that all consumers have passed, this one up to `low`; returns the new lower bound. */
  prune(consumer: OutboxConsumer, low: string): string
  pruned(to: string): void
  /** No more outcomes are accepted. */
  begun(name: string): void
}

/** All outcomes of one consumer in one turn of the event loop: one write request of a transaction. */
export class AckWork implements WriteRequest {
  #name: string
  #ledger: AckOutbox
  #outcomes = new Map<string, DeliveryOutcome>()
  #callers: { resolve(): void; reject(error: Error): void }[] = []

  constructor(name: string, ledger: AckOutbox) {
    this.#name = name
    this.#ledger = ledger
  }

  /** Resolves once the outcomes are durable. The first outcome of an event counts. */
  add(outcomes: readonly DeliveryOutcome[]): Promise<void> {
    for (const outcome of outcomes) if (!this.#outcomes.has(outcome.id)) this.#outcomes.set(outcome.id, outcome)
    return new Promise((resolve, reject) => this.#callers.push({ resolve, reject }))
  }

  plan(): PreparedWrite {
    this.#ledger.begun(this.#name)
    const consumer = this.#ledger.consumer(this.#name)
    if (consumer === undefined) return { write: () => undefined, finish: () => this.#answer() }
    const outcomes = [...this.#outcomes.values()].filter(({ id }) => this.#waits(consumer, id))
    const passed = new Set(outcomes.filter(({ id }) => !consumer.retries.has(id)).map(({ id }) => id))
    const low = consumer.lowAfter(this.#ledger.newest(), passed)
    let pruned = ''
    return {
      write: () => {
        for (const outcome of outcomes) this.#write(consumer, outcome)
        for (const id of passed) if (id >= low) tables.insertPassed(this.#ledger.connection(), consumer.id, id)
        if (low > consumer.low) tables.raiseLow(this.#ledger.connection(), consumer.id, low, consumer.passed.size > 0)
        pruned = this.#ledger.prune(consumer, low)
      },
      finish: () => {
        this.#ledger.pruned(pruned)
        for (const id of passed) consumer.passed.add(id)
        for (const outcome of outcomes) remember(consumer, outcome)
        consumer.raise(low)
        this.#answer()
      },
    }
  }

  /** True for an event that this consumer has not settled; those not yet in memory are read from the file. */
  #waits(consumer: OutboxConsumer, id: string): boolean {
    if (consumer.leases.has(id) || consumer.retries.has(id) || consumer.isPending(id)) return true
    if (consumer.isLive || id <= consumer.loadedTo || consumer.passed.has(id)) return false
    return tables.audienceOf(this.#ledger.connection(), id)?.includes(`,${consumer.id},`) ?? false
  }

  #write(consumer: OutboxConsumer, outcome: DeliveryOutcome): void {
    const db = this.#ledger.connection()
    if (outcome.how === 'done') {
      if (consumer.retries.has(outcome.id)) tables.removeFailure(db, consumer.id, outcome.id, this.#ledger.prunedTo())
      return
    }
    tables.writeFailure(db, {
      consumer: consumer.id,
      event: outcome.id,
      attempts: consumer.attemptOf(outcome.id),
      due: outcome.how === 'retry' ? outcome.due : 0,
      error: outcome.error,
      parkedAt: outcome.how === 'park' ? outcome.at : null,
    })
  }

  #answer(): void {
    for (const { resolve } of this.#callers) resolve()
  }

  refuse(error: Error): void {
    this.#ledger.begun(this.#name)
    for (const { reject } of this.#callers) reject(error)
  }
}

const remember = (consumer: OutboxConsumer, outcome: DeliveryOutcome): void => {
  const attempts = consumer.attemptOf(outcome.id)
  consumer.settle(outcome.id)
  if (outcome.how === 'retry') consumer.retries.set(outcome.id, { attempts, due: outcome.due })
  else consumer.waiting--
}
