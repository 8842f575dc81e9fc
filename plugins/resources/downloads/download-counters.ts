import { Clock, Datasets, event, type FileRecord, Files, Log, type Stored, wire } from 'pounce/sdk'

/** Counts what is fetched. Nobody waits for a statistic, and one that is lost in a crash is no loss of data. */
export class DownloadCounters {
  #datasets: Datasets
  #files: Files
  #clock: Clock
  #log: Log

  constructor(datasets: Datasets, files: Files, clock: Clock, log: Log) {
    this.#datasets = datasets
    this.#files = files
    this.#clock = clock
    this.#log = log
  }

  dataset(id: string, archive: { readonly sizeBytes: number; readonly entries: number }, user: string | undefined): void {
    const downloaded = event('dataset.downloaded', { kind: 'dataset', id }, archive, user)
    this.#logged(this.#datasets.change(id, this.#one(), [downloaded]), { dataset: id })
  }

  files(files: readonly (FileRecord & Stored)[], user: string | undefined): void {
    for (const { id, sizeBytes } of files) {
      const downloaded = event('file.downloaded', { kind: 'file', id }, { sizeBytes, isTracked: true, isWhole: false }, user)
      this.#logged(this.#files.change(id, this.#one(), [downloaded]), { file: id })
    }
  }

  #one() {
    return { inc: { 'statistics.downloads': 1 }, set: { 'statistics.lastDownloaded': this.#clock.now().toISOString() } }
  }

  #logged(counting: Promise<unknown>, subject: Readonly<Record<string, string>>): void {
    counting.catch((error: unknown) => {
      this.#log.warn('failed to count a download', { ...subject, error })
    })
  }
}
wire(DownloadCounters, Datasets, Files, Clock, Log)
