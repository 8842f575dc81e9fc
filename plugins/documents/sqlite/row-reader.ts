import { randomUUID } from 'node:crypto'
import type { Collection, Find } from 'pounce/sdk'
import { type Lines, youngGarbage } from 'pounce/sdk/kit'
import type { Database } from './database.ts'
import type { ReaderThread } from './reader-thread.ts'
import type { LinePart, LineQuery } from './row-formatter.ts'
import type { ScanPlace } from './scanning.ts'
import type { SqliteCatalog } from './sqlite-catalog.ts'

/** Rows of one part: a millisecond of a thread. More of them leave more garbage at a time. */
const rows = 400
/** Parts that each thread works on or has ready: a slow client blocks a report, not memory. */
const ahead = 2
/** Bytes that come from a thread, and those that are sent with what stands between two parts. */
const copies = 2

/** Writes documents as lines in the reader threads, so that the main thread has little to do with it. */
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
      youngGarbage.passed(copies * bytes.length)
      if (bytes.length > 0) yield bytes
    }
  }

  /** Parts of a whole table do not depend on each other, so that several threads can work on them. */
  async *#all(asked: Omit<LineQuery, 'of'>): AsyncGenerator<LinePart> {
    const last = Number(this.#database.use(db => db.get(`SELECT max(r) FROM ${asked.table.table}`))?.[0] ?? 0)
    const waiting: Promise<LinePart>[] = []
    let after = 0
    for (let number = 0; after < last || waiting.length > 0; ) {
      while (after < last && waiting.length < ahead * this.#threads.length) {
        const thread = this.#threads[number++ % this.#threads.length] as ReaderThread
        const part = thread.run({ ...asked, of: { after, upTo: after + rows } })
        // No one may wait for it when one before it fails.
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
