import { Invalid } from 'pounce/sdk'

/** The first reads may take longer, up to this time, so that the result for a small set does not depend on the load of the server. */
const [firstLooks, graceMs] = [5000, 30_000]

/** The number of reads and the time that one request may use. The client continues with the next link. */
export class QueryBudget {
  #looks = 0
  readonly #maxLooks: number
  readonly #untilMs: number

  constructor(maxLooks: number, ms: number) {
    this.#maxLooks = maxLooks
    this.#untilMs = performance.now() + ms
  }

  /** False when the budget is used up. */
  take(): boolean {
    const untilMs = this.#looks < firstLooks ? this.#untilMs + graceMs : this.#untilMs
    if (this.#looks >= this.#maxLooks || performance.now() > untilMs) return false
    this.#looks += 1
    return true
  }
}

/** Limits the size of one response: the same entities may be expanded repeatedly, and nested. */
export class AnswerSize {
  readonly #maxEntities: number
  readonly #maxBytes: number
  /** Properties are included many times, as the same object each time. */
  readonly #known = new WeakMap<object, number>()
  #entities = 0
  #bytes = 0

  constructor(maxEntities: number, maxBytes: number) {
    this.#maxEntities = maxEntities
    this.#maxBytes = maxBytes
  }

  /** Counts an entity with these members. Throws `Invalid` when the response becomes too large. */
  add(members: Readonly<Record<string, unknown>>): void {
    this.#entities += 1
    for (const name in members) this.#bytes += name.length + this.#sizeOf(members[name])
    if (this.#entities > this.#maxEntities)
      throw new Invalid(`The response would have more than ${this.#maxEntities} entities: use a smaller $top, or expand less`)
    if (this.#bytes > this.#maxBytes)
      throw new Invalid(`The response would have more than ${this.#maxBytes} bytes: use a smaller $top, $select, or expand less`)
  }

  #sizeOf(value: unknown): number {
    if (typeof value === 'string') return value.length
    if (typeof value !== 'object' || value === null) return 8
    const known = this.#known.get(value)
    if (known !== undefined) return known
    const size = JSON.stringify(value).length
    this.#known.set(value, size)
    return size
  }
}
