import { CommitConflict, DocumentStore, GeoStore, wire } from 'pounce/sdk'
import { geoNumbers } from './collections.ts'

/** Batch sizes. Datapoints are many, so each kernel allocates their numbers in batches: those unused when it stops are never used. */
const stocks = { sensor: 1, stream: 1, datapoint: 2000 } as const
export type NumberedKind = keyof typeof stocks

interface Stock {
  next: number
  left: number
}

/**
 * Allocates numbers, each once, in ascending order within one kernel. Numbers of deleted resources are not reused, nor those of stored
 * datapoints whose records were lost: the records may have been restored from an older backup.
 */
export class GeostreamIds {
  #documents: DocumentStore
  #geo: GeoStore
  #stored: ReturnType<GeoStore['highest']> | undefined
  #stocks = new Map<NumberedKind, Stock>()
  #filling = new Map<NumberedKind, Promise<void>>()

  constructor(documents: DocumentStore, geo: GeoStore) {
    this.#documents = documents
    this.#geo = geo
  }

  async next(kind: NumberedKind): Promise<number> {
    const [number] = await this.take(kind, 1)
    if (number === undefined) throw new Error(`no number for a ${kind}`)
    return number
  }

  /** Allocates numbers, in ascending order, at least one. */
  async take(kind: NumberedKind, count: number): Promise<readonly number[]> {
    const taken: number[] = []
    while (taken.length < count) {
      const stock = this.#stocks.get(kind)
      if (!stock || stock.left === 0) {
        await this.#fill(kind, count - taken.length)
        continue
      }
      const some = Math.min(stock.left, count - taken.length)
      for (let at = 0; at < some; at += 1) taken.push(stock.next + at)
      stock.next += some
      stock.left -= some
    }
    return taken
  }

  #fill(kind: NumberedKind, wanted: number): Promise<void> {
    const under = this.#filling.get(kind) ?? this.#more(kind, Math.max(wanted, stocks[kind])).finally(() => this.#filling.delete(kind))
    this.#filling.set(kind, under)
    return under
  }

  async #more(kind: NumberedKind, count: number): Promise<void> {
    const highest = await this.#highest(kind)
    let next = await this.#reserve(kind, count)
    const missing = highest - (next - count) + 1
    if (missing > 0) next = await this.#reserve(kind, missing + count)
    this.#stocks.set(kind, { next: next - count, left: count })
  }

  /** Read once: records are restored while no kernel runs. */
  async #highest(kind: NumberedKind): Promise<number> {
    if (kind === 'sensor') return 0
    this.#stored ??= this.#geo.highest().catch((error: unknown) => {
      this.#stored = undefined
      throw error
    })
    const { id, stream } = await this.#stored
    return kind === 'stream' ? stream : id
  }

  async #reserve(kind: NumberedKind, count: number): Promise<number> {
    try {
      return (await this.#documents.commit({ update: kind, in: geoNumbers, inc: { next: count } })).next
    } catch (error) {
      if (!(error instanceof CommitConflict && error.reason === 'absent')) throw error
    }
    try {
      const first = { id: kind, next: 1 + count }
      return (await this.#documents.commit({ insert: first, into: geoNumbers })).next
    } catch (error) {
      if (error instanceof CommitConflict && error.reason === 'exists') return this.#reserve(kind, count)
      throw error
    }
  }
}
wire(GeostreamIds, DocumentStore, GeoStore)
