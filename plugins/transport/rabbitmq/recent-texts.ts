/** Remembers the texts that were added last. */
export class RecentTexts {
  #most: number
  /** The oldest first. */
  #texts = new Set<string>()

  constructor(most: number) {
    this.#most = most
  }

  has(text: string): boolean {
    return this.#texts.has(text)
  }

  add(text: string): void {
    this.#texts.add(text)
    for (const oldest of this.#texts) {
      if (this.#texts.size <= this.#most) return
      this.#texts.delete(oldest)
    }
  }
}
