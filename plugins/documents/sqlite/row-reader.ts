import { randomUUID } from 'node:crypto'
import type { Collection, Find } from 'pounce/sdk'
import { type RowFormat, youngGeneration } from 'pounce/sdk/kit'
import type { Database } from './database.ts'
import type { ReaderThread } from './reader-thread.ts'
import type { RowPart, RowQuery } from './row-formatter.ts'
import type { ScanPlace } from './scanning.ts'
import type { SqliteCatalog } from './sqlite-catalog.ts'

/** Rows per part: one millisecond of a thread. Larger parts leave more garbage at a time. */
const rows = 400
/** Maximum number of parts that each thread has in progress or ready: a slow client blocks its report and does not fill memory. */
const ahead = 2

/** Formats documents as lines in the reader threads, so that the main thread does little work. */
export class RowReader {
  readonly #database: Database
  readonly #catalog: SqliteCatalog
  readonly #threads: readonly ReaderThread[]

  constructor(database: Database, catalog: SqliteCatalog, threads: readonly ReaderThread[]) {
    this.#database = database
    this.#catalog = catalog
    this.#threads = threads
  }

  async *rows(from: Collection<object>, format: RowFormat, query?: Pick<Find, 'using' | 'where'>): AsyncGenerator<Uint8Array> {
    const columns = format.columns
    const pointed = columns.flatMap(({ cell }) =>
      'of' in cell ? [[cell.in.name, this.#catalog.tableOf({ name: cell.in.name, indexes: {} }).table] as const] : [],
    )
    const others = Object.fromEntries(pointed)
    // Only the name of the collection is used, as it is sent to another thread.
    const plain = columns.map(({ name, cell }) => ({ name, cell: 'of' in cell ? { ...cell, in: { name: cell.in.name } } : cell }))
    const table = this.#catalog.tableOf(from)
    const rowQuery = { kind: 'rows', report: randomUUID(), format: { ...format, columns: plain }, table, others } as const
    const parts = query ? this.#scanned(rowQuery, query) : this.#all(rowQuery)
    for await (const { bytes } of parts) {
      youngGeneration.passed(bytes.length)
      if (bytes.length > 0) yield bytes
    }
  }

  /** Parts of a whole table are independent, so several threads can work on them. */
  async *#all(rowQuery: Omit<RowQuery, 'of'>): AsyncGenerator<RowPart> {
    const last = Number(this.#database.use(db => db.get(`SELECT max(r) FROM ${rowQuery.table.table}`))?.[0] ?? 0)
    const waiting: Promise<RowPart>[] = []
    let after = 0
    for (let number = 0; after < last || waiting.length > 0; ) {
      while (after < last && waiting.length < ahead * this.#threads.length) {
        const thread = this.#threads[number++ % this.#threads.length] as ReaderThread
        const part = thread.run({ ...rowQuery, of: { after, upTo: after + rows } })
        // It may never be awaited when an earlier one fails.
        part.catch(() => undefined)
        waiting.push(part)
        after += rows
      }
      yield await (waiting.shift() as Promise<RowPart>)
    }
  }

  async *#scanned(rowQuery: Omit<RowQuery, 'of'>, scan: Pick<Find, 'using' | 'where'>): AsyncGenerator<RowPart> {
    let from: ScanPlace | undefined = { stream: 0, after: undefined }
    while (from !== undefined) {
      const part: RowPart = await (this.#threads[0] as ReaderThread).run({ ...rowQuery, of: { scan, from } })
      yield part
      from = part.next
    }
  }
}
