const mostAtOnce = 1000

/** Collects ids and hands them on together: what comes while one batch is dealt with makes the next one. */
export class IdBatcher {
  #waiting: string[] = []
  #isBusy = false
  #work: (ids: readonly string[]) => Promise<void>

  /** `work` deals with its own failures. */
  constructor(work: (ids: readonly string[]) => Promise<void>) {
    this.#work = work
  }

  add(id: string): void {
    this.#waiting.push(id)
    if (this.#isBusy) return
    this.#isBusy = true
    setImmediate(() => this.#run())
  }

  #run(): void {
    const ids = this.#waiting.splice(0, mostAtOnce)
    if (ids.length === 0) {
      this.#isBusy = false
      return
    }
    this.#work(ids).then(
      () => this.#run(),
      () => this.#run(),
    )
  }
}
