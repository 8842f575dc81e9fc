import type { AnyEvent } from 'pounce/sdk'
import type { DeadLetter } from 'pounce/sdk/store-kit'
import type { MongodbConnection } from './mongodb-connection.ts'
import { isDuplicate } from './problems.ts'

/** An event that waits for one consumer, after it has left the document it was committed with. */
export interface PendingRecord {
  /** The event's id, a slash and the consumer. */
  readonly _id: string
  /** Consumer. */
  readonly c: string
  /** Event ID, which defines the order. */
  readonly o: string
  /** Subject. */
  readonly s: string
  /** The event as JSON text. */
  readonly e: string
  /** When it can be claimed, in milliseconds: 0 for at once, the end of its lease, the retry time of a failed one, or `never` while dead-lettered. */
  readonly t: number
  /** Attempts so far. */
  readonly n: number
  /** The owner of the lease; null when unleased. */
  readonly by: string | null
  /** The claim that took it, so that two concurrent claims each find their own. */
  readonly take?: string
  readonly parkedAt?: string
  readonly error?: string
}

/** The `due` of a dead letter. */
export const never = Number.MAX_SAFE_INTEGER

export const subjectOf = ({ subject }: AnyEvent): string => `${subject.kind}/${subject.id}`

/** What is stored of an event for one consumer. */
export interface NewDelivery {
  readonly consumer: string
  readonly id: string
  readonly subject: string
  readonly text: string
  readonly tries: number
  /** End of this kernel's lease. */
  readonly lease?: { readonly by: string; readonly until: number }
}

export const idOf = (event: string, consumer: string): string => `${event}/${consumer}`

/** Maximum number of claims without a result that are remembered. */
const maxDoubtful = 1000

const counted = 100_000
const countedOfAbsent = 10_000

/** Events stored outside of documents, one record for each consumer that has not settled one. */
export class PendingDeliveries {
  readonly #server: MongodbConnection
  /** Claims without a result. The server may have executed them, or may do so later; their leases are renewed, but nobody handles the events. */
  readonly #doubtful = new Set<string>()
  #areReleased = true

  constructor(server: MongodbConnection) {
    this.#server = server
  }

  #collection() {
    return this.#server.collection<PendingRecord>('_deliveries')
  }

  async declare(): Promise<void> {
    const keys = [{ c: 1, t: 1, o: 1 }, { c: 1, s: 1 }, { by: 1 }, { parkedAt: 1 }] as const
    for (const key of keys) await this.#server.withoutTimeLimit(() => this.#collection().createIndex({ ...key }))
  }

  /** Existing records are left unchanged. */
  async add(deliveries: readonly NewDelivery[]): Promise<void> {
    for (let at = 0; at < deliveries.length; at += 500) {
      const some = deliveries.slice(at, at + 500).map(({ consumer, id, subject, text, tries, lease }) => ({
        _id: idOf(id, consumer),
        c: consumer,
        o: id,
        s: subject,
        e: text,
        t: lease?.until ?? 0,
        n: tries,
        by: lease?.by ?? null,
      }))
      try {
        await this.#server.use(() => this.#collection().insertMany(some, { ordered: false }))
      } catch (error) {
        if (!isDuplicate(error)) throw error
      }
    }
  }

  /** Claimable events of a consumer, oldest first, up to a limit of each kind: new ones, and retries that are due. */
  async available(
    consumer: string,
    now: number,
    limit: number,
    me: string,
  ): Promise<{ readonly fresh: readonly PendingRecord[]; readonly due: readonly PendingRecord[] }> {
    const [fresh, due] = await this.#server.use(() =>
      Promise.all([
        this.#collection()
          .find({ c: consumer, t: 0 }, { sort: { o: 1 }, limit })
          .toArray(),
        this.#collection()
          .find({ c: consumer, t: { $gt: 0, $lte: now }, by: { $ne: me } }, { sort: { t: 1 }, limit })
          .toArray(),
      ]),
    )
    return { fresh, due }
  }

  /** Subjects of a consumer whose events are leased by others. */
  async busySubjects(consumer: string, subjects: readonly string[], now: number, me: string): Promise<ReadonlySet<string>> {
    const filter = { c: consumer, s: { $in: [...subjects] }, by: { $nin: [null, me] }, t: { $gt: now, $lt: never } }
    const found = await this.#server.use(() =>
      this.#collection()
        .find(filter, { projection: { s: 1 } })
        .toArray(),
    )
    return new Set(found.map(({ s }) => s))
  }

  /** Whether any of these events is pending for any of these consumers. */
  async hasAny(events: readonly string[], consumers: readonly string[]): Promise<boolean> {
    const ids = events.flatMap(event => consumers.map(consumer => idOf(event, consumer)))
    return (await this.#server.use(() => this.#collection().countDocuments({ _id: { $in: ids }, t: { $lt: never } }, { limit: 1 }))) > 0
  }

  /** Which of these consumers have pending events of these subjects, not counting those leased by this kernel. */
  async waitingOf(consumers: readonly string[], subjects: readonly string[], me: string): Promise<ReadonlySet<string>> {
    const filter = { c: { $in: [...consumers] }, s: { $in: [...subjects] }, by: { $ne: me }, t: { $lt: never } }
    return new Set(await this.#server.use(() => this.#collection().distinct('c', filter)))
  }

  /** Leases those that are still unleased; returns the IDs of the deliveries it got. When it fails, `releaseDoubtful` releases what it leased. */
  async take(
    ids: readonly string[],
    now: number,
    lease: { readonly by: string; readonly until: number; readonly take: string },
  ): Promise<ReadonlySet<string>> {
    try {
      return await this.#take(ids, now, lease)
    } catch (error) {
      this.#areReleased = false
      this.#doubtful.add(lease.take)
      for (const oldest of this.#doubtful) {
        if (this.#doubtful.size <= maxDoubtful) break
        this.#doubtful.delete(oldest)
      }
      throw error
    }
  }

  async #take(ids: readonly string[], now: number, lease: Parameters<PendingDeliveries['take']>[2]): Promise<ReadonlySet<string>> {
    const filter = { _id: { $in: [...ids] }, t: { $lte: now } }
    const { by, until, take } = lease
    const { modifiedCount } = await this.#server.use(() =>
      this.#collection().updateMany({ ...filter, by: { $ne: by } }, { $set: { by, t: until, take }, $inc: { n: 1 } }),
    )
    if (modifiedCount === ids.length) return new Set(ids)
    const mine = await this.#server.use(() =>
      this.#collection()
        .find({ _id: { $in: [...ids] }, take }, { projection: { _id: 1 } })
        .toArray(),
    )
    return new Set(mine.map(({ _id }) => _id))
  }

  /** False after a failed claim, until `releaseDoubtful` has succeeded. */
  get areReleased(): boolean {
    return this.#areReleased
  }

  /** Releases the events that failed claims of a kernel have leased; these claims do not count as attempts. Returns their number. */
  async releaseDoubtful(by: string): Promise<number> {
    if (this.#doubtful.size === 0) return 0
    const takes = [...this.#doubtful]
    const update = { $set: { by: null, t: 0 }, $inc: { n: -1 } }
    const { modifiedCount } = await this.#server.use(() => this.#collection().updateMany({ by, take: { $in: takes } }, update))
    this.#areReleased ||= takes.length === this.#doubtful.size
    return modifiedCount
  }

  /** Renews the leases of a kernel. */
  async renew(by: string, until: number): Promise<void> {
    await this.#server.use(() => this.#collection().updateMany({ by, t: { $gt: 0, $lt: never } }, { $set: { t: until } }))
  }

  /** Releases all leases of a kernel. */
  async release(by: string): Promise<void> {
    await this.#server.use(() => this.#collection().updateMany({ by }, { $set: { by: null, t: 0 } }))
  }

  async settle(consumer: string, events: readonly string[]): Promise<void> {
    if (events.length === 0) return
    await this.#server.use(() => this.#collection().deleteMany({ _id: { $in: events.map(id => idOf(id, consumer)) } }))
  }

  async fail(consumer: string, event: string, tries: number, error: string, due: number): Promise<void> {
    const set = { by: null, t: Math.max(1, due), n: tries, error }
    await this.#server.use(() => this.#collection().updateOne({ _id: idOf(event, consumer) }, { $set: set }))
  }

  async park(consumer: string, event: string, tries: number, error: string, parkedAt: string): Promise<void> {
    const set = { by: null, t: never, n: tries, error, parkedAt }
    await this.#server.use(() => this.#collection().updateOne({ _id: idOf(event, consumer) }, { $set: set }))
  }

  /** True when it was dead-lettered and is now due. */
  async retryDeadLetters(consumer: string, event: string): Promise<boolean> {
    const filter = { _id: idOf(event, consumer), t: never }
    const update = { $set: { t: 0, n: 0, by: null }, $unset: { parkedAt: true as const, error: true as const } }
    const { matchedCount } = await this.#server.use(() => this.#collection().updateOne(filter, update))
    return matchedCount > 0
  }

  async dropDeadLetters(consumer: string, event: string): Promise<void> {
    await this.#server.use(() => this.#collection().deleteOne({ _id: idOf(event, consumer), t: never }))
  }

  /** Newest first. */
  async deadLetters(limit: number): Promise<readonly DeadLetter[]> {
    const options = { sort: { parkedAt: -1, _id: -1 } as const, limit }
    const found = await this.#server.use(() =>
      this.#collection()
        .find({ parkedAt: { $gt: '' } }, options)
        .toArray(),
    )
    return found.map(({ c, e, n, error = '', parkedAt = '' }) => ({
      event: JSON.parse(e) as AnyEvent,
      consumer: c,
      attempts: n,
      error,
      parkedAt,
    }))
  }

  /** Number of events pending for a consumer, up to 100,000. */
  async waiting(consumer: string): Promise<number> {
    return this.#server.use(() => this.#collection().countDocuments({ c: consumer, t: { $lt: never } }, { limit: counted }))
  }

  /** Names of the consumers with pending events or dead letters. */
  async consumers(): Promise<readonly string[]> {
    return this.#server.use(() => this.#collection().distinct('c'))
  }

  /** Number of events pending for a consumer that no kernel claims for, up to 10,000, and when the oldest of them was committed. */
  async kept(consumer: string): Promise<{ readonly waiting: number; readonly oldest: string | null }> {
    const filter = { c: consumer, t: { $lt: never } }
    const [waiting, first] = await this.#server.use(() =>
      Promise.all([
        this.#collection().countDocuments(filter, { limit: countedOfAbsent }),
        this.#collection()
          .find(filter, { sort: { t: 1, o: 1 }, limit: 1 })
          .next(),
      ]),
    )
    return { waiting, oldest: first === null ? null : (JSON.parse(first.e) as AnyEvent).at }
  }

  /** Deletes everything pending for a consumer. */
  async forget(consumer: string): Promise<void> {
    await this.#server.withoutTimeLimit(() => this.#collection().deleteMany({ c: consumer }))
  }
}
