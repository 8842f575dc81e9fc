import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Installation, wire } from 'pounce/sdk'

/** Throws for every event while there is a file named `poison` in the data folder. */
export class PoisonedTags {
  #poison: string

  constructor({ dataFolder }: Installation) {
    this.#poison = join(dataFolder, 'poison')
  }

  async handle(): Promise<void> {
    if (existsSync(this.#poison)) throw new Error('This handler cannot stomach tags')
  }
}
wire(PoisonedTags, Installation)

/** Leaves a rejecting promise and a throwing timer behind. */
export class LeftBehind {
  async handle(): Promise<void> {
    void Promise.reject(new Error('a promise of a handler that nobody waits for'))
    setTimeout(() => {
      throw new Error('a timer of a handler')
    }, 1)
  }
}
