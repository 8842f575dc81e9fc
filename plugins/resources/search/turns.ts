/** Work on the same things one after the other, in the order it was asked for; work on different things side by side. */
export class Turns {
  /** The last work on each thing that is not done. Never rejects. */
  readonly #last = new Map<string, Promise<unknown>>()

  async take<T>(ids: readonly string[], work: () => Promise<T>): Promise<T> {
    const before = new Set(ids.flatMap(id => this.#last.get(id) ?? []))
    const result = Promise.all(before).then(work)
    const done = result.catch(() => undefined)
    for (const id of ids) this.#last.set(id, done)
    try {
      return await result
    } finally {
      for (const id of ids) if (this.#last.get(id) === done) this.#last.delete(id)
    }
  }
}
