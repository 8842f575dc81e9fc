import { Log, type s, wire } from 'pounce/sdk'
import { type CollectionLife, CollectionLifes, Config, type config } from './collection-life.ts'

/** Deletes what has been in the trash for too long, where the settings say how long that is. */
export class ClearTrash {
  #days: number
  #trash: CollectionLife
  #log: Log

  constructor({ clearTrashAfterDays }: s.Static<typeof config>, trash: CollectionLife, log: Log) {
    this.#days = clearTrashAfterDays
    this.#trash = trash
    this.#log = log
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#days === 0) return
    const count = await this.#trash.clearOld(this.#days, undefined, signal)
    if (count > 0) this.#log.info('collections were deleted that had been in the trash for too long', { count, days: this.#days })
  }
}
wire(ClearTrash, Config, CollectionLifes, Log)
