import { Clock, Datasets, DocumentStore, eq, Log, wire } from 'pounce/sdk'
import { datasets } from './collection.ts'

const silentMs = 60 * 60 * 1000

/** Takes back the imports that nobody goes on with: the server was killed in the middle of them. */
export class AbandonedImports {
  #documents: DocumentStore
  #datasets: Datasets
  #clock: Clock
  #log: Log

  constructor(documents: DocumentStore, all: Datasets, clock: Clock, log: Log) {
    this.#documents = documents
    this.#datasets = all
    this.#clock = clock
    this.#log = log
  }

  async run(signal: AbortSignal): Promise<void> {
    const before = new Date(this.#clock.now().getTime() - silentMs).toISOString()
    const sort = { by: 'created', order: 'ascending' } as const
    for await (const { id, modified } of this.#documents.scan(datasets, { using: 'byCreated', where: eq('state', 'importing'), sort })) {
      if (signal.aborted) return
      if (modified >= before) continue
      await this.#datasets.drop(id)
      this.#log.info('interrupted import rolled back', { dataset: id })
    }
  }
}
wire(AbandonedImports, DocumentStore, Datasets, Clock, Log)
