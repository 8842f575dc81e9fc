import { Counters, wire } from 'pounce/sdk'
import { inTime } from './known-parts.ts'

type Totals = Awaited<ReturnType<Counters['instance']>>

/** The totals as far as they are known: the last ones that were read while the store is unavailable. */
export class CachedTotals {
  readonly #counters: Counters
  #last: Totals = { spaces: 0, collections: 0, datasets: 0, files: 0, bytes: 0, users: 0 }

  constructor(counters: Counters) {
    this.#counters = counters
  }

  async known(): Promise<Totals> {
    this.#last = await inTime(this.#counters.instance()).catch(() => this.#last)
    return { ...this.#last }
  }
}
wire(CachedTotals, Counters)
