import { mkdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import {
  type After,
  type AnyEvent,
  Clock,
  type Collection,
  configPort,
  type DocumentStore,
  type Find,
  Ids,
  Installation,
  Log,
  Metrics,
  type NewEvent,
  type Page,
  type Stored,
  s,
  Unavailable,
  wire,
} from 'pounce/sdk'
import type { RowFormat } from 'pounce/sdk/kit'
import { DatabaseBackup, DatabaseDoctor, syncPath } from 'pounce/sdk/sqlite'
import type { Change, Committed, Outbox } from 'pounce/sdk/store-kit'
import { Backups } from './backups.ts'
import { Database } from './database.ts'
import { GroupCommit } from './group-commit.ts'
import { namingFile, requireWritable } from './problems.ts'
import { ReaderThread } from './reader-thread.ts'
import { RowReader } from './row-reader.ts'
import { SqliteCatalog } from './sqlite-catalog.ts'
import { SqliteOutbox } from './sqlite-outbox.ts'
import { RecentDocuments, type Seek, SqliteReader } from './sqlite-reader.ts'
import { collectionOf, planChange } from './writer.ts'

export const config = s.Object({
  folder: s.Optional(s.String({ description: 'Folder of the database file. Default: `documents` in the data folder' })),
  cacheMiB: s.Integer({ default: 32, minimum: 1, maximum: 65_536, description: 'Page cache size, in MiB' }),
  maxSizeMiB: s.Integer({
    default: 0,
    minimum: 0,
    description: 'Maximum size of the database file, in MiB; writes then fail as on a full disk. 0: no limit',
  }),
  inlineRows: s.Integer({
    default: 2000,
    minimum: 1,
    description: 'Maximum number of rows that a query may scan without a match before it moves to a reader thread',
  }),
  readTimeoutMs: s.Integer({
    default: 30_000,
    minimum: 100,
    description: 'Timeout of a query in the reader thread, in milliseconds',
  }),
  maxBackups: s.Integer({
    default: 2,
    minimum: 0,
    maximum: 100,
    description: 'Number of backups before migrations to keep. 0: no backups',
  }),
})
const Config = configPort(config)
const fileName = 'pounce.db'

const folderOf = ({ folder }: s.Static<typeof config>, { dataFolder }: Installation): string =>
  resolve(folder ?? join(dataFolder, 'documents'))

/**
 * Documents in one SQLite file, read and written on the main thread: point reads and short pages take microseconds, writes of one turn of
 * the event loop share a durable transaction, long reads go to a thread of their own.
 */
export class SqliteDocuments implements DocumentStore {
  readonly outbox: Outbox
  #folder: string
  #file: string
  #database: Database
  #commits: GroupCommit
  #catalog: SqliteCatalog
  #outbox: SqliteOutbox
  #reader: SqliteReader
  #recent = new RecentDocuments()
  #rowReader: RowReader
  #threads: readonly ReaderThread[]
  #backups: Backups
  #log: Log
  #isOpen = false

  constructor(settings: s.Static<typeof config>, installation: Installation, ids: Ids, clock: Clock, log: Log, metrics: Metrics) {
    this.#folder = folderOf(settings, installation)
    const { cacheMiB, maxSizeMiB, inlineRows, readTimeoutMs, maxBackups } = settings
    this.#file = join(this.#folder, fileName)
    const opening = { file: this.#file, readOnly: false, cacheMiB, maxSizeMiB }
    this.#database = new Database(opening)
    this.#commits = new GroupCommit(this.#database, (pieces, seconds) => {
      metrics.observe('documents_transaction_seconds', seconds)
      metrics.count('documents_commits', {}, pieces)
    })
    this.#catalog = new SqliteCatalog(this.#database)
    this.#outbox = new SqliteOutbox({ database: this.#database, commits: this.#commits, ids, clock, log })
    this.outbox = this.#outbox
    const thread = new ReaderThread(opening, readTimeoutMs)
    this.#threads = [thread, new ReaderThread(opening, readTimeoutMs)]
    this.#reader = new SqliteReader(this.#database, this.#catalog, thread, this.#recent, inlineRows)
    this.#log = log
    this.#backups = new Backups(this.#file, maxBackups, clock)
    this.#rowReader = new RowReader(this.#database, this.#catalog, this.#threads)
  }

  async start(): Promise<void> {
    const created = await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    if (created) await makeDurable(this.#folder, dirname(created))
    await requireWritable(this.#file)
    try {
      this.#database.open()
      this.#catalog.load()
      this.#outbox.load()
    } catch (error) {
      throw namingFile(this.#file, error)
    }
    this.#isOpen = true
  }

  health(): void {
    this.#database.use(db => db.get('SELECT 1 FROM collections LIMIT 1'))
  }

  /** Writes what is queued, then closes the file. Later calls reject with `Unavailable`. */
  async dispose(): Promise<void> {
    if (!this.#isOpen) return
    this.#commits.close()
    this.#isOpen = false
    await Promise.all(this.#threads.map(thread => thread.close()))
    try {
      this.#database.use(db => db.exec('PRAGMA wal_checkpoint(TRUNCATE)'))
    } finally {
      this.#database.close()
    }
  }

  #open(): SqliteReader {
    if (!this.#isOpen) throw new Unavailable('The document store is not open')
    return this.#reader
  }

  async backUp(): Promise<string | undefined> {
    this.#open()
    const backup = await this.#backups.write()
    if (backup !== undefined) this.#log.info('Records backed up before migrations', { backup })
    return backup
  }

  async declare(collections: readonly Collection<object>[]): Promise<void> {
    this.#open()
    await this.#catalog.declare(collections)
  }

  async get<T extends object>(from: Collection<T>, id: string): Promise<(T & Stored) | undefined> {
    return this.#open().get(from, id)
  }

  async getMany<T extends object>(from: Collection<T>, ids: readonly string[]): Promise<ReadonlyMap<string, T & Stored>> {
    return this.#open().getMany(from, ids)
  }

  async find<T extends object>(from: Collection<T>, query: Find): Promise<Page<T & Stored>> {
    return this.#open().find(from, query)
  }

  async seek<T extends object>(from: Collection<T>, query: Seek): Promise<After | undefined> {
    return this.#open().seek(from, query)
  }

  async count<T extends object>(from: Collection<T>, query: Pick<Find, 'using' | 'where'> & { readonly upTo: number }): Promise<number> {
    return this.#open().count(from, query)
  }

  async *walk<T extends object>(from: Collection<T>, after?: string): AsyncIterable<T & Stored> {
    yield* this.#open().walk(from, after)
  }

  async *scan<T extends object>(from: Collection<T>, query: Omit<Find, 'limit' | 'after'>): AsyncIterable<T & Stored> {
    yield* this.#open().scan(from, query)
  }

  async *formattedRows<T extends object>(
    from: Collection<T>,
    format: RowFormat,
    query?: Pick<Find, 'using' | 'where'>,
  ): AsyncIterable<Uint8Array> {
    this.#open()
    yield* this.#rowReader.rows(from, format, query)
  }

  commit<T extends object>(change: Change<T>, events: readonly NewEvent[] = []): Promise<T & Stored> {
    return new Promise((resolve, reject) => {
      this.#enqueue(change as Change, events, document => resolve(document as T & Stored), reject)
    })
  }

  async commitEach<T extends object>(
    items: readonly { readonly change: Change<T>; readonly events?: readonly NewEvent[] }[],
  ): Promise<readonly Committed<T>[]> {
    if (items.length > 1000) throw new RangeError('At most 1,000 changes can be sent at once')
    const each = items.map(
      ({ change, events = [] }) =>
        new Promise<Committed<T>>(resolve => {
          const committed = (document: Stored) => resolve({ ok: true, document: document as T & Stored })
          this.#enqueue(change as Change, events, committed, error => resolve({ ok: false, error }))
        }),
    )
    return Promise.all(each)
  }

  #enqueue(change: Change, events: readonly NewEvent[], committed: (document: Stored) => void, refuse: (error: Error) => void): void {
    let recorded: readonly AnyEvent[] = []
    this.#commits.add({
      refuse,
      plan: () => {
        const db = this.#database.connection()
        const table = this.#catalog.forWriting(collectionOf(change))
        const planned = planChange(db, table, change)
        return {
          write: () => {
            this.#recent.forget(table.table, planned.document.id)
            planned.write()
            recorded = this.#outbox.record(db, events)
          },
          finish: () => {
            this.#recent.written(table.table, planned.document.id, planned.text)
            this.#outbox.announce(recorded)
            committed(planned.document)
          },
        }
      },
    })
  }
}
wire(SqliteDocuments, Config, Installation, Ids, Clock, Log, Metrics)

/** A new folder survives a power failure only once its parent has been synced; the same holds for all its new ancestors. */
const makeDurable = async (made: string, old: string): Promise<void> => {
  for (let folder = made; folder !== old; ) {
    folder = dirname(folder)
    await syncPath(folder)
  }
}

/** The records, for `pounce backup`. */
export class RecordsBackup extends DatabaseBackup {
  constructor(settings: s.Static<typeof config>, installation: Installation) {
    super('documents', join(folderOf(settings, installation), fileName))
  }
}
wire(RecordsBackup, Config, Installation)

/** The records, for `pounce doctor`. */
export class RecordsDoctor extends DatabaseDoctor {
  constructor(settings: s.Static<typeof config>, installation: Installation) {
    super({
      name: 'documents',
      file: () => join(folderOf(settings, installation), fileName),
      jsonColumns: ['doc', 'definition', 'outbox_events.event', 'outbox_consumers.types'],
      remedy: 'stop the server, keep a copy of the file, and restore a backup as docs/operations.md says',
    })
  }
}
wire(RecordsDoctor, Config, Installation)
