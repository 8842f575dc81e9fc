/** How much one request may look at, counted and in time. What is left over, the client asks for by the next link. */
export class Budget {
  #looks: number
  readonly #untilMs: number

  constructor(looks: number, ms: number) {
    this.#looks = looks
    this.#untilMs = performance.now() + ms
  }

  /** False when it is used up: nothing more is to be looked at. */
  take(): boolean {
    if (this.#looks <= 0 || performance.now() > this.#untilMs) return false
    this.#looks -= 1
    return true
  }
}
