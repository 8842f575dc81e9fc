/** Up to here counts are exact; larger ones are cached for one minute. */
const maxExact = 10_000
const maxCounted = 100_000_000
const maxAgeMs = 60_000
const maxCached = 1000

interface CachedCount {
  readonly count: Promise<number>
  readonly until: number
}

/**
 * Cached counts of items per container: exact up to 10,000, beyond that at most one minute old, so that requests do not repeatedly pay for large containers.
 * `counting` counts index entries up to a given number.
 */
export class CachedCounts {
  readonly #cache = new Map<string, CachedCount>()
  readonly #now: () => number

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  async count(place: string, counting: (upTo: number) => Promise<number>): Promise<number> {
    const count = await counting(maxExact)
    return count < maxExact ? count : this.#large(place, counting)
  }

  #large(place: string, counting: (upTo: number) => Promise<number>): Promise<number> {
    const known = this.#cache.get(place)
    if (known && known.until > this.#now()) return known.count
    const count = counting(maxCounted)
    this.#cache.delete(place)
    this.#cache.set(place, { count, until: this.#now() + maxAgeMs })
    // Do not return a failed count to the next caller.
    count.catch(() => this.#cache.delete(place))
    const [oldest] = this.#cache.keys()
    if (this.#cache.size > maxCached && oldest !== undefined) this.#cache.delete(oldest)
    return count
  }
}
