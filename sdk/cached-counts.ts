/** Up to here counts are exact; larger ones are cached for one minute. */
const maxExact = 10_000
const maxCounted = 100_000_000
const keptMs = 60_000
const maxKept = 1000

interface Kept {
  readonly count: Promise<number>
  readonly until: number
}

/**
 * Cached counts of items per container: exact up to 10,000, beyond that at most one minute old, so that requests do not repeatedly pay for large containers.
 * `counting` counts index entries up to a given number.
 */
export class CachedCounts {
  readonly #kept = new Map<string, Kept>()
  readonly #now: () => number

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  async count(place: string, counting: (upTo: number) => Promise<number>): Promise<number> {
    const count = await counting(maxExact)
    return count < maxExact ? count : this.#large(place, counting)
  }

  #large(place: string, counting: (upTo: number) => Promise<number>): Promise<number> {
    const known = this.#kept.get(place)
    if (known && known.until > this.#now()) return known.count
    const count = counting(maxCounted)
    this.#kept.delete(place)
    this.#kept.set(place, { count, until: this.#now() + keptMs })
    // Do not return a failed count to the next caller.
    count.catch(() => this.#kept.delete(place))
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > maxKept && oldest !== undefined) this.#kept.delete(oldest)
    return count
  }
}
