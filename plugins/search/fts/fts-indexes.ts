import { basename } from 'node:path'
import { Worker } from 'node:worker_threads'
import { type Log, NoSpace, Unavailable } from 'pounce/sdk'
import { WorkerClient } from 'pounce/sdk/kit'
import type { IndexChange } from 'pounce/sdk/search'
import { sqliteCodeOf } from 'pounce/sdk/sqlite'
import { isDamage, isFull, OtherIndexVersion } from './damage.ts'
import { IndexFile } from './index-file.ts'
import { IndexFolder } from './index-folder.ts'
import { schemaVersion } from './schema.ts'
import type { WriteFailure, WriteTask } from './write-task.ts'

const writeLimitMs = 60_000
const resourceLimits = { maxYoungGenerationSizeMb: 4 }

/** A thread with a connection of its own to the index: large batches are written there, which takes some 7 % of the load off the main thread. */
class WriteThread {
  readonly #thread = new WorkerClient<WriteTask>({
    start: () => new Worker(new URL('./write-worker.ts', import.meta.url), { resourceLimits }),
    timeoutMs: writeLimitMs,
    name: 'The writer of the search index',
  })

  /** Resolves when the changes are committed, which is not yet durable. Throws SQLite's errors, and `Unavailable` when the thread dies. */
  async write(path: string, changes: readonly IndexChange[]): Promise<void> {
    const failure = (await this.#thread.run({ path, changes })) as WriteFailure | undefined
    if (failure) throw Object.assign(new Error(failure.message), failure)
  }

  close(): Promise<void> {
    return this.#thread.close()
  }
}

/** The index in use and, during a rebuild, the next one. A damaged index is replaced by an empty one. */
export class FtsIndexes {
  readonly #folder: IndexFolder
  readonly #log: Log
  readonly #thread = new WriteThread()
  #live: IndexFile | undefined
  #next: IndexFile | undefined

  constructor(folder: string, log: Log) {
    this.#folder = new IndexFolder(folder)
    this.#log = log
  }

  /** Opens the index in use or creates an empty one. Returns whether the file was not closed properly after its last change. Throws `NoSpace` on a full disk. */
  open(): { readonly isSuspect: boolean } {
    namingFullDisk(() => this.#folder.make())
    const name = this.#folder.current()
    const found = name ? this.#tryOpen(name) : undefined
    if (!name || !found) {
      this.empty({ isComplete: false })
      return { isSuspect: false }
    }
    this.#live = found
    this.#folder.keepOnly(name)
    return { isSuspect: !found.isClosed }
  }

  /** An index not known to be intact is checked when it is next opened. */
  async close({ isWhole: isIntact }: { readonly isWhole: boolean }): Promise<void> {
    await this.#thread.close()
    this.dropNext()
    const live = this.#live
    this.#live = undefined
    if (!live) return
    try {
      live.isClosed = isIntact
    } catch (error) {
      // On a full disk the mark stays, and the index is checked when it is next opened.
      if (!isFull(error)) throw error
    } finally {
      live.close()
    }
  }

  /** The file that searches read. */
  get path(): string {
    return this.#open.path
  }

  isLargerThan(documents: number): boolean {
    return this.#open.isLargerThan(documents)
  }

  get identity(): string {
    return this.#open.identity
  }

  /** False while documents are missing that a rebuild would add. */
  get isComplete(): boolean {
    return this.#open.isComplete
  }

  /** Applies changes to the index in use and to the next one, each in one transaction. */
  write(changes: Iterable<IndexChange>): void {
    const written: IndexChange[] = []
    try {
      this.#open.transaction(() => {
        this.#markChanged()
        for (const change of changes) {
          written.push(change)
          this.#open.apply(change)
        }
      })
    } catch (error) {
      if (!isDamage(sqliteCodeOf(error))) throw error
      this.replaceDamaged(this.path, error)
      applyAll(this.#open, written)
    }
    if (this.#next) this.#writeToNext(this.#next, written)
  }

  /** The same on another thread; repeated when another file replaced the index meanwhile. */
  async writeMany(changes: readonly IndexChange[]): Promise<void> {
    for (let isReplaced = false, path = ''; path !== this.path; ) {
      path = this.path
      try {
        this.#markChanged()
        await this.#thread.write(path, changes)
      } catch (error) {
        if (isReplaced || !isDamage(sqliteCodeOf(error))) throw error
        isReplaced = true
        this.replaceDamaged(path, error)
      }
      if (this.#next) this.#writeToNext(this.#next, changes)
    }
  }

  /** Not on opening: startup would wait for the disk. */
  #markChanged(): void {
    if (this.#open.isClosed) this.#open.isClosed = false
  }

  /** Resolves when what was written to the index in use is durable. */
  async sync(): Promise<void> {
    await this.#open.sync()
  }

  /** If it fails, the rebuild does; the index in use has the changes. */
  #writeToNext(next: IndexFile, changes: readonly IndexChange[]): void {
    try {
      applyAll(next, changes)
    } catch (error) {
      this.#log.error('Failed to write the new search index', { error })
      this.dropNext()
    }
  }

  /** Starts again without entries. */
  empty({ isComplete }: { readonly isComplete: boolean }): void {
    namingFullDisk(() => {
      const name = this.#folder.unused()
      const file = new IndexFile(this.#folder.pathOf(name), { isDurable: true })
      file.isComplete = isComplete
      this.#use(name, file)
    })
  }

  /** Empties the index because its file is damaged; does nothing when another file replaced it meanwhile. */
  replaceDamaged(path: string, error: unknown): void {
    if (path !== this.path) return
    this.#log.error('Search index damaged; starting with an empty one, a rebuild is required', { error })
    this.empty({ isComplete: false })
  }

  /** Creates a second index; from now on `write` updates both. */
  beginNext(): IndexFile {
    this.#next = new IndexFile(this.#folder.pathOf(this.#folder.unused()), { isDurable: false })
    return this.#next
  }

  /** Replaces the first index with the second. */
  useNext(): void {
    const next = this.#next
    if (!next) throw new Error('There is no second index')
    next.isComplete = true
    next.seal()
    this.#next = undefined
    this.#use(basename(next.path), next)
  }

  /** Abandons the second index. */
  dropNext(): void {
    const next = this.#next
    this.#next = undefined
    next?.close()
    if (next) this.#folder.remove(basename(next.path))
  }

  #use(name: string, file: IndexFile): void {
    this.#folder.use(name)
    const before = this.#live
    this.#live = file
    before?.close()
    const building = this.#next && basename(this.#next.path)
    if (!building) this.#folder.keepOnly(name)
    else if (before) this.#folder.remove(basename(before.path))
  }

  #tryOpen(name: string): IndexFile | undefined {
    try {
      return namingFullDisk(() => new IndexFile(this.#folder.pathOf(name), { isDurable: true }))
    } catch (error) {
      if (error instanceof NoSpace) throw error
      if (error instanceof OtherIndexVersion) {
        const { version } = error
        this.#log.warn('Search index has another version; it will be rebuilt', { version, requiredVersion: schemaVersion })
      } else this.#log.error('Search index unusable; starting with an empty one, a rebuild is required', { error })
      return undefined
    }
  }

  get #open(): IndexFile {
    if (!this.#live) throw new Unavailable('The search index is not open')
    return this.#live
  }
}

/** Throws `NoSpace` for errors of a full disk, which are no reason to replace an index. */
const namingFullDisk = <T>(work: () => T): T => {
  try {
    return work()
  } catch (error) {
    if (!isFull(error)) throw error
    throw new NoSpace('The disk with the search index is full: delete files there', { cause: error })
  }
}

const applyAll = (index: IndexFile, changes: readonly IndexChange[]): void =>
  index.transaction(() => {
    for (const change of changes) index.apply(change)
  })
