import type { Readable } from 'node:stream'
import {
  type AnyEvent,
  Clock,
  CorruptContent,
  collection,
  type DamageReports,
  DocumentStore,
  eq,
  event,
  type FileRecord,
  Log,
  Metrics,
  range,
  type Stored,
  type Time,
  wire,
} from 'pounce/sdk'
import { unlessConflict } from 'pounce/sdk/kit'
import { files } from './collection.ts'

const dayMs = 86_400_000

/** A file whose stored bytes are damaged, by id. */
export interface DamagedFile {
  readonly at: Time
  readonly blob: string
}

/** A separate collection: few files are damaged, and each index on files costs every upload. */
export const damagedFiles = collection<DamagedFile>()('files.damaged', { byTime: { on: ['at'] } })

/** Marks files whose bytes are damaged, each once until it is repaired. */
export class FileDamage implements DamageReports {
  #documents: DocumentStore
  #clock: Clock
  #log: Log
  #metrics: Metrics

  constructor(documents: DocumentStore, clock: Clock, log: Log, metrics: Metrics) {
    this.#documents = documents
    this.#clock = clock
    this.#log = log
    this.#metrics = metrics
  }

  async damaged(key: string, found: 'read' | 'scrub'): Promise<void> {
    this.#metrics.count('damaged_reads_total', { found })
    await this.#markAll(key, found, () => true)
  }

  async open(key: string, get: () => Promise<Readable | undefined>): Promise<Readable | undefined> {
    const report = (error: unknown): void => {
      if (error instanceof CorruptContent) void this.damaged(key, 'read')
    }
    try {
      const bytes = await get()
      // A deleted file has no record to mark; the bytes of an archived one may be elsewhere.
      if (!bytes) void this.#markAll(key, 'read', ({ status }) => status !== 'ARCHIVED')
      return bytes?.once('error', report)
    } catch (error) {
      report(error)
      throw error
    }
  }

  /** When the damage was found; undefined for a file that is not known to be damaged. */
  async since(file: string): Promise<Time | undefined> {
    return (await this.#documents.get(damagedFiles, file))?.at
  }

  /** All marked files, newest first. */
  async marked(limit: number): Promise<readonly (DamagedFile & Stored)[]> {
    return (await this.#documents.find(damagedFiles, { using: 'byTime', sort: { by: 'at', order: 'descending' }, limit })).items
  }

  /** The number of files that were marked before this one within a day; at most `max`. */
  async markedBefore(file: string, at: Time, max: number): Promise<number> {
    const where = range('at', { gt: new Date(Date.parse(at) - dayMs).toISOString(), lte: at })
    const { items } = await this.#documents.find(damagedFiles, { using: 'byTime', where, limit: max + 1 })
    return Math.min(max, items.filter(other => other.id !== file && (other.at < at || other.id < file)).length)
  }

  /** Unmarks a file whose bytes were read without errors. */
  async repaired(file: string): Promise<void> {
    if ((await this.since(file)) === undefined) return
    await unlessConflict(
      this.#documents.commit({ tombstone: file, in: damagedFiles }, [event('file.repaired', { kind: 'file', id: file }, {})]),
    )
    this.#log.info('The bytes of a damaged file are valid again', { file })
  }

  async #markAll(key: string, found: 'read' | 'scrub', isMarked: (file: FileRecord) => boolean): Promise<void> {
    try {
      for await (const file of this.#documents.scan(files, { using: 'byBlob', where: eq('blob', key) }))
        if (isMarked(file)) await this.#mark(file.id, key, found)
    } catch (error) {
      this.#log.error('Failed to mark damaged bytes', { blob: key, error })
    }
  }

  async #mark(id: string, blob: string, found: 'read' | 'scrub'): Promise<void> {
    if ((await this.since(id)) !== undefined) return
    const damageEvent = event('file.damaged', { kind: 'file', id }, { found })
    const record = { id, at: this.#clock.now().toISOString(), blob }
    const isNew = (await unlessConflict(this.#documents.commit({ insert: record, into: damagedFiles }, [damageEvent]))) !== undefined
    if (!isNew) return
    this.#metrics.count('damaged_files_total', { found })
    this.#log.error('The stored bytes of a file are damaged', { file: id, blob, found })
  }
}
wire(FileDamage, DocumentStore, Clock, Log, Metrics)

/** Deletes the mark with its file. */
export class DeleteDamageOnFileRemoved {
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    const marked = await this.#documents.getMany(
      damagedFiles,
      events.map(({ subject }) => subject.id),
    )
    for (const id of marked.keys()) await unlessConflict(this.#documents.commit({ tombstone: id, in: damagedFiles }))
  }
}
wire(DeleteDamageOnFileRemoved, DocumentStore)
