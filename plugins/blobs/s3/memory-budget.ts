/** How many bytes all uploads together may hold in memory. */
export class MemoryBudget {
  #left: number

  constructor(bytes: number) {
    this.#left = bytes
  }

  /** False when there is no room; nothing is taken then. */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false
    this.#left -= bytes
    return true
  }

  give(bytes: number): void {
    this.#left += bytes
  }
}
