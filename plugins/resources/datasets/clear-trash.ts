import { Log, type s, wire } from 'pounce/sdk'
import { Config, type config, type DatasetTrash, DatasetTrashes } from './dataset-trash.ts'

/** Deletes what has been in the trash for too long, where the settings say how long that is. */
export class ClearTrash {
  #days: number
  #trash: DatasetTrash
  #log: Log

  constructor({ clearTrashAfterDays }: s.Static<typeof config>, trash: DatasetTrash, log: Log) {
    this.#days = clearTrashAfterDays
    this.#trash = trash
    this.#log = log
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#days === 0) return
    const count = await this.#trash.clearOld(this.#days, undefined, signal)
    if (count > 0) this.#log.info('datasets were deleted that had been in the trash for too long', { count, days: this.#days })
  }
}
wire(ClearTrash, Config, DatasetTrashes, Log)
