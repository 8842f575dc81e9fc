import { Invalid } from 'pounce/sdk'

/** So many looks may take longer, by this time: what is said of a small set is the same on a busy server. */
const [firstLooks, graceMs] = [5000, 30_000]

/** How much one request may look at, counted and in time. What is left over, the client requests by the next link. */
export class QueryBudget {
  #looks = 0
  readonly #maxLooks: number
  readonly #untilMs: number

  constructor(maxLooks: number, ms: number) {
    this.#maxLooks = maxLooks
    this.#untilMs = performance.now() + ms
  }

  /** False when it is used up: nothing more is to be looked at. */
  take(): boolean {
    const untilMs = this.#looks < firstLooks ? this.#untilMs + graceMs : this.#untilMs
    if (this.#looks >= this.#maxLooks || performance.now() > untilMs) return false
    this.#looks += 1
    return true
  }
}

/** How much one answer may hold: the same entities may be expanded again and again, inside each other. */
export class AnswerSize {
  readonly #maxEntities: number
  readonly #maxBytes: number
  /** Properties are shown many times, and the same object each time. */
  readonly #known = new WeakMap<object, number>()
  #entities = 0
  #bytes = 0

  constructor(maxEntities: number, maxBytes: number) {
    this.#maxEntities = maxEntities
    this.#maxBytes = maxBytes
  }

  /** Counts an entity with these members. `Invalid` when the answer is too large with it. */
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
