import { Conflict } from 'pounce/sdk'
import { Semaphore } from 'pounce/sdk/kit'
import type { AbsentConsumer, Consumer } from 'pounce/sdk/store-kit'
import type { MongodbConnection } from './mongodb-connection.ts'
import type { PendingDeliveries } from './pending-deliveries.ts'

interface ConsumerRecord {
  readonly _id: string
  readonly types: readonly string[] | '*'
  /** When a kernel last reported that it runs this consumer, in milliseconds. */
  readonly at: number
}

/** A consumer that no kernel has reported for this long is absent; kernels report theirs every 5 s. */
const absentAfterMs = 60_000

/** The consumers of this kernel and of other kernels: each kernel keeps events for all of them. */
export class Consumers {
  readonly #server: MongodbConnection
  readonly #deliveries: PendingDeliveries
  #own: readonly Consumer[] = []
  #others: readonly Consumer[] = []
  readonly #audiences = new Map<string, readonly string[]>()
  /** One at a time: a report that began before a consumer was dropped would otherwise be written after that. */
  readonly #turn = new Semaphore({ max: 1 })

  constructor(server: MongodbConnection, deliveries: PendingDeliveries) {
    this.#server = server
    this.#deliveries = deliveries
  }

  /** Names of the consumers that events of this type are kept for. */
  audienceOf(type: string): readonly string[] {
    let audience = this.#audiences.get(type)
    if (audience === undefined) {
      const handles = ({ types }: Consumer): boolean => types === '*' || types.includes(type)
      audience = [...new Set([...this.#own, ...this.#others].filter(handles).map(({ name }) => name))]
      this.#audiences.set(type, audience)
    }
    return audience
  }

  declare(consumers: readonly Consumer[], now: number): Promise<void> {
    return this.#turn.use(async () => {
      const dropped = this.#own.filter(({ name }) => !consumers.some(one => one.name === name)).map(({ name }) => name)
      if (dropped.length > 0) await this.#server.use(() => this.#collection().updateMany({ _id: { $in: dropped } }, { $set: { at: 0 } }))
      this.#own = consumers.map(({ name, types }) => ({ name, types }))
      await this.#report(now)
    })
  }

  /** Reports this kernel's consumers and reads those of others. Consumers that no kernel runs still get events. */
  refresh(now: number): Promise<void> {
    return this.#turn.use(() => this.#report(now))
  }

  async #report(now: number): Promise<void> {
    const before = await this.#server.use(() => this.#collection().find({}).toArray())
    const isOwn = ({ _id }: ConsumerRecord): boolean => this.#own.some(({ name }) => name === _id)
    const changes = this.#own.map(({ name, types }) => ({
      updateOne: { filter: { _id: name }, update: { $set: { types: types === '*' ? types : [...types], at: now } }, upsert: true },
    }))
    if (changes.length > 0) await this.#server.use(() => this.#collection().bulkWrite(changes, { ordered: false }))
    this.#others = before.filter(one => !isOwn(one)).map(({ _id, types }) => ({ name: _id, types }))
    this.#audiences.clear()
  }

  /** Called when this kernel stops: others that run the same consumers report so within 5 s. */
  async leave(): Promise<void> {
    const names = this.#own.map(({ name }) => name)
    if (names.length > 0) await this.#server.use(() => this.#collection().updateMany({ _id: { $in: names } }, { $set: { at: 0 } }))
  }

  /** Consumers that no kernel declares, including removed ones that an event arrived for afterwards. */
  async absent(now: number): Promise<readonly AbsentConsumer[]> {
    const [registered, waitedFor] = await Promise.all([
      this.#server.use(() => this.#collection().find({}).toArray()),
      this.#deliveries.consumers(),
    ])
    const present = new Set([
      ...this.#own.map(({ name }) => name),
      ...registered.filter(({ at }) => at >= now - absentAfterMs).map(({ _id }) => _id),
    ])
    const names = [...new Set([...registered.map(({ _id }) => _id), ...waitedFor])].filter(name => !present.has(name)).sort()
    return Promise.all(names.map(async consumer => ({ consumer, ...(await this.#deliveries.kept(consumer)) })))
  }

  /** Removes a consumer that no kernel declares, and its pending events. */
  forget(name: string, now: number): Promise<void> {
    return this.#turn.use(() => this.#forget(name, now))
  }

  async #forget(name: string, now: number): Promise<void> {
    const isOwn = this.#own.some(one => one.name === name)
    const isElsewhere =
      (await this.#server.use(() => this.#collection().countDocuments({ _id: name, at: { $gte: now - absentAfterMs } }))) > 0
    if (isOwn || isElsewhere) throw new Conflict(`The consumer ${name} is loaded: its events are handled`)
    await this.#server.use(() => this.#collection().deleteOne({ _id: name }))
    await this.#deliveries.forget(name)
    this.#others = this.#others.filter(one => one.name !== name)
    this.#audiences.clear()
  }

  #collection() {
    return this.#server.collection<ConsumerRecord>('_consumers')
  }
}
