import { randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { Unavailable } from 'pounce/sdk'
import type { IndexChange, SearchDocument } from 'pounce/sdk/search'
import { foldValue } from 'pounce/sdk/search'
import { OtherIndexVersion } from './damage.ts'
import { type FieldType, type IndexEntry, toEntry } from './index-entry.ts'
import { LogSync } from './log-sync.ts'
import { type IndexRow, PreparedStatements } from './prepared-statements.ts'
import { columns, firstRid, kindKey, ridsPerMs, schema, schemaVersion } from './schema.ts'
import { TagCounts } from './tag-counts.ts'

/** Number of operations that share a transaction while a file is being filled. */
const operationsPerTransaction = 100
/** Of 4 kB each. */
const maxSmallPages = 4096
const maxKnownWords = 100_000
/** What is stored of an unsearchable document: its revision only. */
const unlisted: IndexEntry = { texts: [], values: [], fields: [], manyValued: [], words: new Set() }

/**
 * One index in one database file, for its only writer. Writes belong inside `transaction`; they are durable after `sync`, the only disk wait that does
 * not block the thread.
 */
export class IndexFile {
  readonly path: string
  readonly #db: DatabaseSync
  readonly #statements: PreparedStatements
  readonly #fieldIds = new Map<string, number>()
  readonly #knownWords = new Set<string>()
  readonly #knownKinds = new Set<string>()
  #isLarge = false
  #isDurable: boolean
  #inTransaction = 0
  readonly #log: LogSync
  readonly #tags: TagCounts

  /**
   * Opens or creates the file; one that is not durable is being filled until `seal`. Throws `OtherIndexVersion`, or SQLite's errors when it is not a
   * complete index.
   */
  constructor(path: string, { isDurable }: { readonly isDurable: boolean }) {
    this.path = path
    this.#log = new LogSync(`${path}-wal`, () => this.#checkpoint())
    this.#isDurable = isDurable
    this.#db = new DatabaseSync(path)
    this.#statements = new PreparedStatements(this.#db)
    this.#tags = new TagCounts(this.#statements)
    try {
      this.#db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${isDurable ? 'NORMAL' : 'OFF'}; PRAGMA cache_size = -16384`)
      this.#prepareTables()
    } catch (error) {
      this.#db.close()
      throw error
    }
  }

  /** True when it has more than this many documents, or so much data that scanning it takes time. */
  isLargerThan(documents: number): boolean {
    this.#isLarge ||=
      Number(this.#statements.get('PRAGMA page_count')?.['page_count']) > maxSmallPages ||
      this.#statements.get('SELECT 1 FROM doc LIMIT 1 OFFSET ?', documents) !== undefined
    return this.#isLarge
  }

  /** True once the index has been filled from the documents, or emptied on purpose. */
  get isComplete(): boolean {
    return this.#flag('complete')
  }

  set isComplete(isIt: boolean) {
    this.#statements.run('REPLACE INTO meta VALUES (?, ?)', 'complete', isIt ? 1 : 0)
  }

  /** Unique to the file, unlike its name. */
  get identity(): string {
    return String(this.#statements.get('SELECT value FROM meta WHERE key = ?', 'identity')?.['value'])
  }

  /** False from the first change until the index is closed, and so after a crash. */
  get isClosed(): boolean {
    return this.#flag('closed')
  }

  set isClosed(isIt: boolean) {
    this.#statements.run('REPLACE INTO meta VALUES (?, ?)', 'closed', isIt ? 1 : 0)
  }

  /** Runs `work` atomically; in a file that is being filled, together with many other operations. */
  transaction(work: () => void): void {
    if (!this.#db.isTransaction) this.#db.exec('BEGIN IMMEDIATE')
    try {
      work()
      this.#inTransaction += 1
      if (this.#isDurable || this.#inTransaction >= operationsPerTransaction) this.#commit()
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
      this.#fieldIds.clear()
      this.#knownWords.clear()
      this.#knownKinds.clear()
      throw error
    }
  }

  #commit(): void {
    this.#inTransaction = 0
    this.#db.exec('COMMIT')
  }

  /**
   * Applies one change. False when the index has a newer revision, or the removal of the document. With `isEarlier` the document was read
   * before those in the index, and does not replace one of an equal revision either: comments and rights change without the revision.
   */
  apply(change: IndexChange, { isEarlier = false }: { readonly isEarlier?: boolean } = {}): boolean {
    return 'put' in change ? this.#put(change.put, isEarlier) : this.#remove(change.remove)
  }

  /** Ends the filling: everything written so far is durable, and so are later writes. */
  seal(): void {
    this.#isDurable = true
    if (this.#db.isTransaction) this.#commit()
    this.#db.exec('PRAGMA synchronous = NORMAL')
    this.#checkpoint()
  }

  /**
   * Resolves when all earlier commits are durable. Throws errors of the file system or SQLite; what was committed since the last
   * success must then be written again. One call at a time.
   */
  sync(): Promise<void> {
    return this.#log.sync()
  }

  /** Copies the whole log into the file, syncs it, and empties the log. */
  #checkpoint(): void {
    if (this.#statements.get('PRAGMA wal_checkpoint(TRUNCATE)')?.['busy'] !== 0)
      throw new Unavailable('The write-ahead log of the search index is in use by a search')
  }

  close(): void {
    this.#db.close()
    this.#log.close()
  }

  #put(document: SearchDocument, isEarlier: boolean): boolean {
    if (this.#statements.get('SELECT 1 FROM removed WHERE id = ?', document.id)) return false
    const old = this.#statements.get('SELECT rid, revision, fields FROM doc WHERE id = ?', document.id)
    const newer = old ? Number(old['revision']) - document.revision : -1
    if (newer > 0 || (isEarlier && newer === 0)) return false
    if (old) this.#erase(old)
    const rid = this.#ridFor(document.created.getTime(), old && Number(old['rid']))
    const entry = document.isListed ? toEntry(document, (name, type) => this.#fieldId(name, type)) : unlisted
    const rights = [document.creator, document.isPublic ? 1 : 0, JSON.stringify(document.spaces)]
    this.#statements.run(
      'INSERT INTO doc VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      ...[
        rid,
        document.id,
        document.kind,
        document.revision,
        document.isListed ? 1 : 0,
        ...rights,
        JSON.stringify(entry.fields),
        foldValue(document.contentType ?? ''),
      ],
    )
    if (document.isListed) {
      this.#recordKind(document.kind)
      this.#index(rid, document.tags, entry)
    }
    return true
  }

  #index(rid: number, tags: readonly string[], entry: IndexEntry): void {
    this.#statements.run(
      `INSERT INTO fts (rowid, ${columns.join(', ')}) VALUES (?${', ?'.repeat(entry.texts.length)})`,
      rid,
      ...entry.texts,
    )
    for (const { field, v, shown } of entry.values)
      this.#statements.run('INSERT OR IGNORE INTO value VALUES (?, ?, ?, ?)', field, v, rid, shown ?? null)
    for (const field of entry.fields) this.#statements.run('UPDATE field SET docs = docs + 1 WHERE id = ?', field)
    for (const field of entry.manyValued) this.#statements.run('UPDATE field SET many = 1 WHERE id = ? AND many = 0', field)
    this.#tags.add(rid, new Set(tags))
    this.#addWords(entry.words)
  }

  #remove(id: string): boolean {
    this.#statements.run('INSERT OR IGNORE INTO removed VALUES (?)', id)
    const old = this.#statements.get('SELECT rid, fields FROM doc WHERE id = ?', id)
    if (old) this.#erase(old)
    return old !== undefined
  }

  #erase(old: IndexRow): void {
    const rid = Number(old['rid'])
    this.#statements.run('DELETE FROM fts WHERE rowid = ?', rid)
    this.#statements.run('DELETE FROM value WHERE doc = ?', rid)
    this.#tags.remove(rid)
    this.#statements.run('DELETE FROM doc WHERE rid = ?', rid)
    for (const field of JSON.parse(String(old['fields'])) as number[]) {
      this.#statements.run('UPDATE field SET docs = docs - 1 WHERE id = ?', field)
    }
  }

  /** A free row number of that millisecond, or of one soon after it when a thousand entries have the same time. */
  #ridFor(createdMs: number, old: number | undefined): number {
    const first = firstRid(createdMs)
    if (old !== undefined && old >= first && old < first + ridsPerMs) return old
    const last = this.#statements.get('SELECT max(rid) AS rid FROM doc WHERE rid >= ? AND rid < ?', first, first + ridsPerMs)?.['rid']
    if (typeof last !== 'number') return first
    if (last + 1 < first + ridsPerMs) return last + 1
    for (let spread = ridsPerMs; ; spread *= 2) {
      const rid = first + ridsPerMs + Math.floor(Math.random() * spread)
      if (!this.#statements.get('SELECT 1 FROM doc WHERE rid = ?', rid)) return rid
    }
  }

  #fieldId(name: string, type: FieldType): number {
    const key = `${type} ${name}`
    const known = this.#fieldIds.get(key)
    if (known !== undefined) return known
    this.#statements.run('INSERT OR IGNORE INTO field (name, type) VALUES (?, ?)', name, type)
    const id = Number(this.#statements.get('SELECT id FROM field WHERE name = ? AND type = ?', name, type)?.['id'])
    this.#fieldIds.set(key, id)
    return id
  }

  #addWords(words: ReadonlySet<string>): void {
    if (this.#knownWords.size > maxKnownWords) this.#knownWords.clear()
    for (const word of words) {
      if (this.#knownWords.has(word)) continue
      this.#statements.run('INSERT OR IGNORE INTO word VALUES (?)', word)
      this.#knownWords.add(word)
    }
  }

  #recordKind(kind: string): void {
    if (this.#knownKinds.has(kind)) return
    this.#statements.run('INSERT OR IGNORE INTO meta VALUES (?, ?)', kindKey(kind), 1)
    this.#knownKinds.add(kind)
  }

  #prepareTables(): void {
    const isNew = this.#statements.get("SELECT 1 FROM sqlite_master WHERE name = 'meta'") === undefined
    if (isNew) {
      this.transaction(() => {
        this.#db.exec(schema)
        this.#statements.run('INSERT INTO meta VALUES (?, ?)', 'version', schemaVersion)
        this.#recordKind('')
      })
    }
    const version = this.#statements.get('SELECT value FROM meta WHERE key = ?', 'version')?.['value']
    if (version !== schemaVersion) throw new OtherIndexVersion(version)
    this.#statements.run('INSERT OR IGNORE INTO meta VALUES (?, ?)', 'identity', randomUUID())
    this.#statements.get('SELECT rowid FROM fts WHERE fts MATCH ? LIMIT 1', '"_all"')
  }

  #flag(key: string): boolean {
    return this.#statements.get('SELECT value FROM meta WHERE key = ?', key)?.['value'] === 1
  }
}
