/** Work on one thing is done one piece after the other; different things side by side. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>()

  /** Does the work once all earlier work on the same thing has ended. */
  take<R>(key: string, work: () => Promise<R>): Promise<R> {
    const before = this.#last.get(key)
    const result = before === undefined ? work() : before.then(work)
    const ended = result.then(nothing, nothing).then(() => {
      if (this.#last.get(key) === ended) this.#last.delete(key)
    })
    this.#last.set(key, ended)
    return result
  }

  /** Resolves when no work is under way. */
  async ended(): Promise<void> {
    while (this.#last.size > 0) await Promise.all(this.#last.values())
  }
}

const nothing = (): void => undefined
