import { DocumentStore, type ReportedRun, type ReportedRuns, range, wire } from 'pounce/sdk'
import { extractions } from './collections.ts'

/** The runs that are kept, for reports. */
export class StoredRunReports implements ReportedRuns {
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  between(since: string | undefined, until: string | undefined): AsyncIterable<ReportedRun> {
    const bounds = { ...(since === undefined ? {} : { gte: since }), ...(until === undefined ? {} : { lte: until }) }
    const where = Object.keys(bounds).length > 0 ? { where: range('start', bounds) } : {}
    return this.#documents.scan(extractions, { using: 'byStart', ...where })
  }
}
wire(StoredRunReports, DocumentStore)
