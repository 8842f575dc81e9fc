import type { AnyEvent } from '../events.ts'

/** A receiver of events. Its position is stored under the name: a renamed consumer loses it. */
export interface Consumer {
  /** Such as `resources.search/index-changes`. */
  readonly name: string
  /** Event types, or `'*'` for all. */
  readonly types: readonly string[] | '*'
}

/** An event delivered to one consumer, which must settle it with `done` or `failed` before the lease expires. */
export interface Delivery {
  readonly event: AnyEvent
  /** 1 for the first attempt. */
  readonly attempt: number
}

/** A delivery that failed too often. It is kept and visible until someone retries or drops it. */
export interface DeadLetter {
  readonly event: AnyEvent
  readonly consumer: string
  readonly attempts: number
  readonly error: string
  readonly parkedAt: string
}

/** A consumer that was declared before but is not any more, such as a handler of a plugin that is not loaded. Its events are kept. */
export interface AbsentConsumer {
  readonly consumer: string
  /** Number of pending events, counted up to 10,000, without dead letters. */
  readonly waiting: number
  /** When the oldest of them was committed, ISO 8601; null if there are none. */
  readonly oldest: string | null
}

/**
 * Committed events for consumers: delivered at least once each, in commit order per subject as long as nothing fails. An event is kept until every consumer
 * that was declared for its type at commit time has settled it or was removed. Consumers that are no longer declared still receive events, so that nothing is
 * lost while a plugin is not loaded.
 */
export interface Outbox {
  /**
   * Declares the current consumers. Called by the kernel at startup, before the first commit. Idempotent. Consumers that are not in the list any more become
   * absent.
   */
  declareConsumers(consumers: readonly Consumer[]): Promise<void>
  /**
   * Claims up to `limit` due events for a consumer, oldest first, leased for `leaseMs`: until then no one else gets these events or later ones of the same
   * subjects. Throws for an undeclared consumer. Leases of a crashed kernel expire; an embedded store releases them at startup.
   */
  claim(
    consumer: string,
    options: { readonly limit: number; readonly leaseMs: number; readonly owner: string },
  ): Promise<readonly Delivery[]>
  /** Settles events of a consumer. Unknown or settled ids are not an error. Durable when it resolves. */
  done(consumer: string, eventIds: readonly string[]): Promise<void>
  /** Returns an event for redelivery after `retryInMs`, or makes it a dead letter with `park`. */
  failed(
    consumer: string,
    eventId: string,
    outcome: { readonly error: string } & ({ readonly retryInMs: number } | { readonly park: true }),
  ): Promise<void>
  /** Dead letters, newest first. */
  deadLetters(options: { readonly limit: number }): Promise<readonly DeadLetter[]>
  /** Redelivers a dead letter, with its attempts reset to 0, or drops it. */
  settleDeadLetter(consumer: string, eventId: string, how: 'retry' | 'drop'): Promise<void>
  /** Consumers that are not declared any more, by name. */
  absent(): Promise<readonly AbsentConsumer[]>
  /** Deletes an absent consumer with its pending events and dead letters. Unknown ones are not an error; a declared one is a `Conflict`. */
  forget(consumer: string): Promise<void>
  /** Number of pending events per declared consumer, counted up to 100,000, without dead letters. */
  waiting(): Promise<Readonly<Record<string, number>>>
  /**
   * Calls the listener soon after events were committed, with the consumers concerned if the store knows them. Only a hint: consumers also poll. Returns a
   * function that removes the listener.
   */
  onCommitted(listener: (consumers?: ReadonlySet<string>) => void): () => void
}
