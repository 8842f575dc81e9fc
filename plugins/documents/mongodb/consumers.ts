import type { Consumer } from 'pounce/sdk'
import type { Deliveries } from './deliveries.ts'
import type { Server } from './server.ts'

interface Kept {
  readonly _id: string
  readonly types: readonly string[] | '*'
  /** When a kernel last said that it has this consumer, in milliseconds. */
  readonly at: number
}

/** A consumer that no kernel has had for so long is forgotten, and what waits for it. */
const forgottenAfterMs = 600_000

/** Who consumes what: this kernel's consumers and those that other kernels have, for each keeps events for all. */
export class Consumers {
  readonly #server: Server
  readonly #deliveries: Deliveries
  #own: readonly Consumer[] = []
  #others: readonly Consumer[] = []
  readonly #audiences = new Map<string, readonly string[]>()

  constructor(server: Server, deliveries: Deliveries) {
    this.#server = server
    this.#deliveries = deliveries
  }

  /** Names of the consumers that an event of this type is kept for. */
  audienceOf(type: string): readonly string[] {
    let audience = this.#audiences.get(type)
    if (audience === undefined) {
      const hears = ({ types }: Consumer): boolean => types === '*' || types.includes(type)
      audience = [...new Set([...this.#own, ...this.#others].filter(hears).map(({ name }) => name))]
      this.#audiences.set(type, audience)
    }
    return audience
  }

  async declare(consumers: readonly Consumer[], now: number): Promise<void> {
    const dropped = this.#own.filter(({ name }) => !consumers.some(one => one.name === name)).map(({ name }) => name)
    if (dropped.length > 0) await this.#server.use(() => this.#kept().updateMany({ _id: { $in: dropped } }, { $set: { at: 0 } }))
    this.#own = consumers.map(({ name, types }) => ({ name, types }))
    await this.refresh(now)
  }

  /** Says that this kernel's consumers are there, hears of the others', and forgets those that are gone. */
  async refresh(now: number): Promise<void> {
    const changes = this.#own.map(({ name, types }) => ({
      updateOne: { filter: { _id: name }, update: { $set: { types: types === '*' ? types : [...types], at: now } }, upsert: true },
    }))
    if (changes.length > 0) await this.#server.use(() => this.#kept().bulkWrite(changes, { ordered: false }))
    const kept = await this.#server.use(() => this.#kept().find({}).toArray())
    const isOwn = ({ _id }: Kept): boolean => this.#own.some(({ name }) => name === _id)
    const others = kept.filter(one => !isOwn(one))
    this.#others = others.filter(({ at }) => at > 0).map(({ _id, types }) => ({ name: _id, types }))
    this.#audiences.clear()
    for (const { _id, at } of others.filter(one => one.at < now - forgottenAfterMs)) await this.#forget(_id, at)
  }

  async #forget(name: string, at: number): Promise<void> {
    const { deletedCount } = await this.#server.use(() => this.#kept().deleteOne({ _id: name, at }))
    if (deletedCount > 0) await this.#deliveries.forget(name)
  }

  #kept() {
    return this.#server.collection<Kept>('_consumers')
  }
}
