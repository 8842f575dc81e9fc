/**
 * The result of a read that is repeated at most once per period; concurrent callers share it. A read that began before `forget`, or for another
 * version, is not used after it, and a failed one is not kept.
 */
export class RecentRead<T> {
  readonly #maxAgeMs: number
  readonly #read: () => Promise<T>
  #last: { readonly result: Promise<T>; readonly since: number; readonly version: number } | undefined

  constructor(maxAgeMs: number, read: () => Promise<T>) {
    this.#maxAgeMs = maxAgeMs
    this.#read = read
  }

  /** At most as old as the period; `version` changes whenever the result has to be read again. */
  get(version = 0): Promise<T> {
    const known = this.#last
    if (known && known.version === version && performance.now() - known.since < this.#maxAgeMs) return known.result
    const last = { result: this.#read(), since: performance.now(), version }
    this.#last = last
    last.result.catch(() => {
      if (this.#last === last) this.#last = undefined
    })
    return last.result
  }

  /** For a change that must take effect at once. */
  forget(): void {
    this.#last = undefined
  }
}
