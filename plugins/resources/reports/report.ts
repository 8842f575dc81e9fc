import { type Bytes, type Contributions, type Kind, type ReportSource, ReportSources, s, Unavailable, wire } from 'pounce/sdk'
import { type CellValue, formatRow, inBatches, quotedCsv, type RowFormat, rowSeparator, streamed } from 'pounce/sdk/kit'

export type ReportFormat = RowFormat['syntax']

/** A table to be streamed to a client. */
export interface Report {
  /** The file name, without extension. */
  readonly name: string
  readonly columns: readonly string[]
  /** The column names are quoted as well. */
  readonly hasQuotedHead?: boolean
  /** The rows in chunks, without separators between the chunks. */
  lines(format: ReportFormat): AsyncIterable<Uint8Array>
}

/** Rows as chunks of text. */
export async function* linesFrom(
  format: ReportFormat,
  columns: readonly string[],
  rows: AsyncIterable<readonly CellValue[]>,
): AsyncGenerator<Uint8Array> {
  for await (const some of inBatches(rows)) yield Buffer.from(some.map(row => formatRow(format, columns, row)).join(rowSeparator(format)))
}

async function* whole(report: Report, format: ReportFormat): AsyncGenerator<Uint8Array> {
  const head = report.hasQuotedHead ? report.columns.map(quotedCsv) : report.columns
  yield Buffer.from(format === 'csv' ? `${head.join(',')}\r\n` : '[\n')
  const between = Buffer.from(rowSeparator(format))
  let isFirst = true
  for await (const piece of report.lines(format)) {
    if (!isFirst) yield between
    yield piece
    isFirst = false
  }
  if (format === 'json') yield Buffer.from('\n]\n')
  else if (!isFirst) yield between
}

/** A report as a file to save. It is generated while it is sent, as fast as the client reads it. */
export const reportBytes = (report: Report, format: ReportFormat): Bytes => ({
  contentType: format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json',
  filename: `${report.name}.${format}`,
  open: () => streamed(whole(report, format)),
})

/** The report sources of each kind. */
export class Sources {
  #sources: Contributions<ReportSource>

  constructor(sources: Contributions<ReportSource>) {
    this.#sources = sources
  }

  /** Throws `Unavailable` when no plugin stores the kind. */
  of(kind: Kind): ReportSource {
    const found = this.#sources.all().find(source => source.kind === kind)
    if (!found) throw new Unavailable(`No plugin stores resources of the kind ${kind}`)
    return found
  }
}
wire(Sources, ReportSources)

const text = s.String()

const texts = s.Array(s.String())

const number = s.Union([s.Number(), s.Null()])

const time = s.Union([s.String(), s.Null()], { description: 'ISO 8601' })

const flag = s.Union([s.Boolean(), s.Null()])

const owned = { id: text, name: text, owner: text, owner_id: text }

const viewed = { views: number, last_viewed: time }

const downloaded = { downloads: number, last_downloaded: time }

const ofFile = { size_kb: number, location: text, parent_datasets: texts, status: text }

const parents = { parent_collections: texts, parent_spaces: texts }

const orNothing = <const T extends Readonly<Record<string, s.TSchema>>>(columns: T) =>
  Object.fromEntries(Object.entries(columns).map(([name, schema]) => [name, s.Union([schema, s.Null()])]))

export const FileRow = s.model(
  'FileReport',
  s.Object({ type: s.Literal('file'), ...owned, ...ofFile, ...viewed, ...downloaded, ...parents, uploaded: time }),
)

export const DatasetRow = s.model(
  'DatasetReport',
  s.Object({ type: s.Literal('dataset'), ...owned, created: time, ...viewed, ...downloaded, ...parents }),
)

export const CollectionRow = s.model(
  'CollectionReport',
  s.Object({ type: s.Literal('collection'), ...owned, created: time, ...viewed, ...parents }),
)

/** Members that only files have are null for other kinds. */
export const AnyRow = s.model(
  'ResourceReport',
  s.Object({
    type: s.Union([s.Literal('collection'), s.Literal('dataset'), s.Literal('file')]),
    ...owned,
    ...orNothing(ofFile),
    ...viewed,
    ...downloaded,
    ...parents,
    'uploaded/created': time,
  }),
)

export const SpaceRow = s.model(
  'SpaceReport',
  s.Object({
    type: s.Literal('space'),
    ...{ id: text, name: text, description: text, creator_id: text, created: time },
    ...{ datasets: s.Integer(), collections: s.Integer(), users: s.Integer() },
  }),
)

export const UserRow = s.model(
  'UserReport',
  s.Object({
    type: s.Literal('user'),
    ...{ id: text, name: text, email: text, provider: text, last_login: time, days_since_last_login: number },
    ...{ active: flag, admin: flag, admin_spaces: number, member_spaces: number },
  }),
)

export const RunRow = s.model(
  'ExtractionReport',
  s.Object({
    ...{ userid: text, username: text, email: text, resource_id: text, resource_type: text, space_id: texts },
    ...{ extractor: text, job_id: text, job_type: s.Union([s.Literal('queue'), s.Literal('work')]) },
    ...{ status_count: s.Integer(), last_status: text, start: s.v1Date(), end: s.v1Date(), duration_ms: s.Integer() },
  }),
)

export const StoredFileRow = s.model(
  'FileStorageReport',
  s.Object({
    ...{ file_type: text, id: text, name: text, owner: text, owner_email: text, owner_id: text },
    ...{ size_kb: s.Integer(), uploaded: time, location: text, parent_datasets: texts, parent_collections: texts },
    ...{ parent_spaces: texts, space_owners: texts, space_admins: texts },
  }),
)

export const StoredByUserRow = s.model(
  'UserStorageReport',
  s.Object({
    type: s.Literal('user'),
    ...{ id: text, name: text, email: text, files: s.Integer(), size_kb: s.Integer() },
  }),
)

/** The response of a report: a table, or its rows as JSON. */
export const reportOf = (row: s.TSchema) => ({ 200: s.bytes<Bytes>({ 'text/csv': s.bytes(), 'application/json': s.Array(row) }) })
