import { and, DocumentStore, type Kind, range, wire } from 'pounce/sdk'
import type { ColumnValue, RowFormat } from 'pounce/sdk/kit'
import { type Report, type ReportFormat, Sources } from './report.ts'

type Columns = RowFormat['columns']

type Named = { readonly name: string }

/** The collections that rows refer to. */
interface Pointed {
  readonly users: Named
  readonly datasets: Named
}

const always = (name: string, is: string | number | null) => ({ name, cell: { is } })

const text = (name: string, at: string) => ({ name, cell: { at, as: 'text' as const } })

const bare = (name: string, at: string) => ({ name, cell: { at, as: 'bare' as const } })

const list = (name: string, cell: ColumnValue) => ({ name, cell })

/** Name and id of the author. */
const owner = ({ users }: Pointed): Columns => [
  { name: 'owner', cell: { of: 'author', in: users, words: ['firstName', 'lastName'] } },
  text('owner_id', 'author'),
]

/** Columns of FileMetrics, and of AllMetrics with its different name for the time (Clowder 1.x, Reporting). */
const fileColumns = (pointed: Pointed, time = 'uploaded'): Columns => [
  ...[always('type', 'file'), text('id', 'id'), text('name', 'name'), ...owner(pointed)],
  { name: 'size_kb', cell: { at: 'sizeBytes', as: 'thousands' } },
  ...[bare(time, 'created'), bare('views', 'statistics.views'), bare('downloads', 'statistics.downloads')],
  ...[bare('last_viewed', 'statistics.lastViewed'), bare('last_downloaded', 'statistics.lastDownloaded'), text('location', 'blob')],
  list('parent_datasets', { each: 'places.dataset' }),
  list('parent_collections', { of: 'places.dataset', in: pointed.datasets, each: 'collections' }),
  list('parent_spaces', { of: 'places.dataset', in: pointed.datasets, each: 'spaces' }),
  text('status', 'status'),
]

/** Columns of DatasetMetrics. */
const datasetColumns = (pointed: Pointed): Columns => [
  ...[always('type', 'dataset'), text('id', 'id'), text('name', 'name'), ...owner(pointed), bare('created', 'created')],
  ...[bare('views', 'statistics.views'), bare('downloads', 'statistics.downloads')],
  ...[bare('last_viewed', 'statistics.lastViewed'), bare('last_downloaded', 'statistics.lastDownloaded')],
  ...[list('parent_collections', { each: 'collections' }), list('parent_spaces', { each: 'spaces' })],
]

/** Columns of CollectionMetrics. Views of collections are not counted. */
const collectionColumns = (pointed: Pointed): Columns => [
  ...[always('type', 'collection'), text('id', 'id'), text('name', 'name'), ...owner(pointed), bare('created', 'created')],
  ...[always('views', 0), always('last_viewed', null)],
  ...[list('parent_collections', { each: 'parents' }), list('parent_spaces', { each: 'spaces' })],
]

/** Columns in the order of the file report; missing ones are empty. */
const alignedTo = (names: readonly string[], columns: Columns): Columns =>
  names.map(name => {
    const column = columns.find(each => each.name === (name === 'uploaded/created' ? 'created' : name))
    return column ? { ...column, name } : always(name, null)
  })

/** A time range, as ISO 8601 strings; an absent bound is open. */
export interface Span {
  readonly since?: string | undefined
  readonly until?: string | undefined
}

/** Reports with one row per record. The store formats the rows itself. */
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

  /** Collections, datasets and files in the columns of files. */
  everything(): Report {
    const pointed = this.#pointed()
    const files = fileColumns(pointed, 'uploaded/created')
    const columns = files.map(({ name }) => name)
    const { lines: collectionLines } = this.#report('', 'collection', alignedTo(columns, collectionColumns(pointed)), {})
    const { lines: datasetLines } = this.#report('', 'dataset', alignedTo(columns, datasetColumns(pointed)), {})
    const { lines: fileLines } = this.#report('', 'file', files, {})
    async function* lines(format: ReportFormat): AsyncGenerator<Uint8Array> {
      yield* collectionLines(format)
      yield* datasetLines(format)
      yield* fileLines(format)
    }
    return { name: 'AllMetrics', columns, lines }
  }

  #pointed(): Pointed {
    return { users: this.#sources.of('user').records, datasets: this.#sources.of('dataset').records }
  }

  #report(name: string, kind: Kind, columns: RowFormat['columns'], { since, until }: Span): Report {
    const { records, byCreated } = this.#sources.of(kind)
    const bounds = { ...(since === undefined ? {} : { gte: since }), ...(until === undefined ? {} : { lte: until }) }
    const where = [...byCreated.where, ...(Object.keys(bounds).length > 0 ? [range('created', bounds)] : [])]
    const query = where.length > 0 ? { using: byCreated.using, where: and(...where) } : undefined
    return {
      name,
      columns: columns.map(column => column.name),
      lines: syntax => this.#documents.formattedRows(records, { syntax, columns }, query),
    }
  }
}
wire(RecordReports, DocumentStore, Sources)
