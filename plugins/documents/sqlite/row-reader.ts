import { randomUUID } from 'node:crypto'
import type { Collection, Find } from 'pounce/sdk'
import { type Lines, youngGarbage } from 'pounce/sdk/kit'
import type { Database } from './database.ts'
import type { ReaderThread } from './reader-thread.ts'
import type { LinePart, LineQuery } from './row-formatter.ts'
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

  async *lines(from: Collection<object>, lines: Lines, query?: Pick<Find, 'using' | 'where'>): AsyncGenerator<Uint8Array> {
    const columns = lines.columns
    const pointed = columns.flatMap(({ cell }) =>
      'of' in cell ? [[cell.in.name, this.#catalog.tableOf({ name: cell.in.name, indexes: {} }).table] as const] : [],
    )
    const others = Object.fromEntries(pointed)
    // Only the name of the collection is used, as it is sent to another thread.
    const plain = columns.map(({ name, cell }) => ({ name, cell: 'of' in cell ? { ...cell, in: { name: cell.in.name } } : cell }))
    const table = this.#catalog.tableOf(from)
    const asked = { kind: 'lines', report: randomUUID(), lines: { ...lines, columns: plain }, table, others } as const
    const parts = query ? this.#scanned(asked, query) : this.#all(asked)
    for await (const { bytes } of parts) {
      youngGarbage.passed(bytes.length)
      if (bytes.length > 0) yield bytes
    }
  }

  /** Parts of a whole table are independent, so several threads can work on them. */
  async *#all(asked: Omit<LineQuery, 'of'>): AsyncGenerator<LinePart> {
    const last = Number(this.#database.use(db => db.get(`SELECT max(r) FROM ${asked.table.table}`))?.[0] ?? 0)
    const waiting: Promise<LinePart>[] = []
    let after = 0
    for (let number = 0; after < last || waiting.length > 0; ) {
      while (after < last && waiting.length < ahead * this.#threads.length) {
        const thread = this.#threads[number++ % this.#threads.length] as ReaderThread
        const part = thread.run({ ...asked, of: { after, upTo: after + rows } })
        // It may never be awaited when an earlier one fails.
        part.catch(() => undefined)
        waiting.push(part)
        after += rows
      }
      yield await (waiting.shift() as Promise<LinePart>)
    }
  }

  async *#scanned(asked: Omit<LineQuery, 'of'>, scan: Pick<Find, 'using' | 'where'>): AsyncGenerator<LinePart> {
    let from: ScanPlace | undefined = { stream: 0, after: undefined }
    while (from !== undefined) {
      const part: LinePart = await (this.#threads[0] as ReaderThread).run({ ...asked, of: { scan, from } })
      yield part
      from = part.next
    }
  }
}
