import { and, DocumentStore, type Kind, type Lines, range, wire } from 'pounce/sdk'
import { alignedTo, collectionColumns, datasetColumns, fileColumns, type Pointed } from './record-columns.ts'
import type { Format, Report } from './report.ts'
import { Sources } from './sources.ts'

/** A time with both ends, as ISO 8601 text; an absent end is open. */
export interface Span {
  readonly since?: string | undefined
  readonly until?: string | undefined
}

/** Reports with one line for each record. The store writes the lines itself. */
export class RecordReports {
  #documents: DocumentStore
  #sources: Sources

  constructor(documents: DocumentStore, sources: Sources) {
    this.#documents = documents
    this.#sources = sources
  }

  files(span: Span): Report {
    return this.#report('FileMetrics', 'file', fileColumns(this.#pointed()), span)
  }

  datasets(span: Span): Report {
    return this.#report('DatasetMetrics', 'dataset', datasetColumns(this.#pointed()), span)
  }

  collections(): Report {
    return this.#report('CollectionMetrics', 'collection', collectionColumns(this.#pointed()), {})
  }

  /** Collections, datasets and files under the columns of files. */
  everything(): Report {
    const pointed = this.#pointed()
    const files = fileColumns(pointed, 'uploaded/created')
    const columns = files.map(({ name }) => name)
    const { lines: collectionLines } = this.#report('', 'collection', alignedTo(columns, collectionColumns(pointed)), {})
    const { lines: datasetLines } = this.#report('', 'dataset', alignedTo(columns, datasetColumns(pointed)), {})
    const { lines: fileLines } = this.#report('', 'file', files, {})
    async function* lines(format: Format): AsyncGenerator<Uint8Array> {
      yield* collectionLines(format)
      yield* datasetLines(format)
      yield* fileLines(format)
    }
    return { name: 'AllMetrics', columns, lines }
  }

  #pointed(): Pointed {
    return { users: this.#sources.of('user').records, datasets: this.#sources.of('dataset').records }
  }

  #report(name: string, kind: Kind, columns: Lines['columns'], { since, until }: Span): Report {
    const { records, byCreated } = this.#sources.of(kind)
    const bounds = { ...(since === undefined ? {} : { gte: since }), ...(until === undefined ? {} : { lte: until }) }
    const where = [...byCreated.where, ...(Object.keys(bounds).length > 0 ? [range('created', bounds)] : [])]
    const query = where.length > 0 ? { using: byCreated.using, where: and(...where) } : undefined
    return {
      name,
      columns: columns.map(column => column.name),
      lines: format => this.#documents.lines(records, { format, columns }, query),
    }
  }
}
wire(RecordReports, DocumentStore, Sources)
