import { type DatasetRecord, Datasets, DocumentStore, type FileRecord, Files, range, type Stored, wire } from 'pounce/sdk'
import type { Span } from './record-reports.ts'
import { Sources } from './sources.ts'

type File = FileRecord & Stored

/** The files whose storage a report tells of, in a time without its ends: all, or those of a space. */
export class StoredFileReport {
  #documents: DocumentStore
  #sources: Sources
  #files: Files
  #datasets: Datasets

  constructor(documents: DocumentStore, sources: Sources, files: Files, datasets: Datasets) {
    this.#documents = documents
    this.#sources = sources
    this.#files = files
    this.#datasets = datasets
  }

  all({ since, until }: Span): AsyncIterable<File> {
    const { records, byCreated } = this.#sources.of('file')
    const bounds = { ...(since === undefined ? {} : { gt: since }), ...(until === undefined ? {} : { lt: until }) }
    const where = Object.keys(bounds).length > 0 ? { where: range('created', bounds) } : {}
    return this.#documents.scan(records, { using: byCreated.using, ...where }) as AsyncIterable<File>
  }

  /** Each once, in whatever datasets and folders of the space it is. */
  async *ofSpace(space: string, { since, until }: Span): AsyncGenerator<File> {
    const { records, inSpace } = this.#sources.of('dataset')
    if (!inSpace) return
    for await (const { id } of this.#documents.scan(records, inSpace(space)) as AsyncIterable<DatasetRecord & Stored>) {
      for await (const file of this.#files.ofDataset(id)) {
        if (since !== undefined && file.created <= since) continue
        if (until !== undefined && file.created >= until) continue
        if (await this.#standsFor(file, id, space)) yield file
      }
    }
  }

  /** A file of several datasets of the space comes with the first of them. */
  async #standsFor(file: File, dataset: string, space: string): Promise<boolean> {
    const others = [...new Set(file.places.map(place => place.dataset))].filter(id => id < dataset)
    if (others.length === 0) return true
    const found = await this.#datasets.getMany(others)
    return ![...found.values()].some(({ spaces, state }) => spaces.includes(space) && state !== 'importing')
  }
}
wire(StoredFileReport, DocumentStore, Sources, Files, Datasets)
