import type { AnyEvent } from '../events.ts'

/** A receiver of events. The name is stored: renaming a consumer loses its progress. */
export interface Consumer {
  /** Such as `resources.search/index-changes`. */
  readonly name: string
  /** Event types, or `'*'`. */
  readonly types: readonly string[] | '*'
}

/** An event delivered to one consumer, to be settled with `done` or `failed` before the lease ends. */
export interface Delivery {
  readonly event: AnyEvent
  /** 1 at the first try. */
  readonly attempt: number
}

/** An event whose consumer failed too often. It stays, visible, until someone retries or drops it. */
export interface DeadLetter {
  readonly event: AnyEvent
  readonly consumer: string
  readonly attempts: number
  readonly error: string
  readonly parkedAt: string
}

/** A consumer that was declared once and is not now, such as a handler of a plugin that is not loaded. Its events are kept. */
export interface AbsentConsumer {
  readonly consumer: string
  /** How many events are kept for it, counted up to 10,000; parked ones are not counted. */
  readonly waiting: number
  /** When the oldest of them was committed, ISO 8601; null when none waits. */
  readonly oldest: string | null
}

/**
 * Events that commits left for consumers: at least once each, in commit order per subject as long as nothing fails.
 * An event is kept until every consumer that was declared for its type when it was committed has settled it, or was removed. Consumers
 * that were declared once and are not now continue getting events, so that nothing is lost while a plugin is not loaded.
 */
export interface Outbox {
  /**
   * Who consumes what from now on. Called by the kernel at start, before the first commit. Twice with the same list is not an error.
   * Who is not named any more becomes absent.
   */
  declareConsumers(consumers: readonly Consumer[]): Promise<void>
  /**
   * Up to `limit` due events for a consumer, oldest first, leased for `leaseMs`: no one else gets them until then, nor later events of
   * the same subjects. A consumer that was not declared throws.
   * A kernel that died loses its leases when they end; an embedded store frees them at start.
   */
  claim(
    consumer: string,
    options: { readonly limit: number; readonly leaseMs: number; readonly owner: string },
  ): Promise<readonly Delivery[]>
  /** Settles events for a consumer. Unknown or settled ids are not an error. Durable when it resolves. */
  done(consumer: string, eventIds: readonly string[]): Promise<void>
  /** Hands an event back, to be due again after `retryInMs`; `park` puts it aside instead. */
  failed(
    consumer: string,
    eventId: string,
    outcome: { readonly error: string } & ({ readonly retryInMs: number } | { readonly park: true }),
  ): Promise<void>
  /** DeadLetter events, newest first. */
  deadLetters(options: { readonly limit: number }): Promise<readonly DeadLetter[]>
  /** Makes a parked event due again with its attempts back at 0, or drops it. */
  settleDeadLetter(consumer: string, eventId: string, how: 'retry' | 'drop'): Promise<void>
  /** Consumers that are declared nowhere now, by name. */
  absent(): Promise<readonly AbsentConsumer[]>
  /** Drops an absent consumer and all that is kept for it, parked events included. An unknown one is not an error; one that is declared is a `Conflict`. */
  forget(consumer: string): Promise<void>
  /** How many events wait, per declared consumer, counted up to 100,000; parked ones are not counted. */
  waiting(): Promise<Readonly<Record<string, number>>>
  /** Calls back soon after a commit left events, with the consumers that they are for where the store knows them; a hint only, for consumers still poll. Returns how to stop. */
  onCommitted(listener: (consumers?: ReadonlySet<string>) => void): () => void
}
