import {
  type AnyEvent,
  type BatchHandler,
  type BlobOwner,
  BlobOwners,
  BlobStore,
  Clock,
  type Command,
  CommitConflict,
  Conflict,
  type Contributions,
  collection,
  configPort,
  DocumentStore,
  Invalid,
  Log,
  Metrics,
  s,
  type Time,
  wire,
} from 'pounce/sdk'
import { type DoctorRow, doctorRow } from 'pounce/sdk/kit'
import type { BlobEntry } from 'pounce/sdk/store-kit'

export const config = s.Object({
  graceHours: s.Number({ default: 24, minimum: 0, description: 'Minimum age of unreferenced bytes before they are deleted, in hours' }),
})

const Config = configPort(config)

const batchSize = 500
/** Maximum number of unreferenced blobs that the doctor counts. */
const maxFound = 1000

interface FirstStart {
  /** When this plugin was first started with this document store. */
  readonly at: Time
  /** Collections whose records have referred to blobs. */
  readonly owners?: readonly string[]
}

/** One record. */
export const beginnings = collection<FirstStart>()('blobs.sweep')

const beginningId = '0'.repeat(24)

/** Records the time from which on blobs are recorded in this document store, and in which collections. */
export class RecordFirstStart {
  readonly #documents: DocumentStore
  readonly #clock: Clock
  readonly #owners: Contributions<BlobOwner>
  readonly #blobs: BlobStore
  readonly #log: Log

  constructor(documents: DocumentStore, clock: Clock, owners: Contributions<BlobOwner>, blobs: BlobStore, log: Log) {
    this.#documents = documents
    this.#clock = clock
    this.#owners = owners
    this.#blobs = blobs
    this.#log = log
  }

  async start(): Promise<void> {
    const owners = this.#loaded()
    const insert = { id: beginningId, at: this.#clock.now().toISOString(), owners }
    try {
      await this.#documents.commit({ insert, into: beginnings })
      void this.#reportOlderBytes().catch((error: unknown) => this.#log.debug('The blob store was not checked for older bytes', { error }))
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
      const { owners: known = [] } = await this.#beginning()
      if (owners.every(name => known.includes(name))) return
      await this.#documents.commit({ update: beginningId, in: beginnings, addToSet: { owners } })
    }
  }

  /** The database may have been lost, or its disk may not be mounted. */
  async #reportOlderBytes(): Promise<void> {
    for await (const _ of this.#blobs.list()) {
      this.#log.error('The records are new, but the blob store contains bytes: if records were lost, stop the server and restore them')
      return
    }
  }

  async at(): Promise<Date> {
    return new Date((await this.#beginning()).at)
  }

  /** Collections whose records may refer to blobs, but whose plugin is not loaded. */
  async absent(): Promise<readonly string[]> {
    const loaded = new Set(this.#loaded())
    const { owners = [] } = await this.#beginning()
    return owners.filter(name => !loaded.has(name))
  }

  async forget(owner: string): Promise<void> {
    const absent = await this.absent()
    if (!absent.includes(owner))
      throw new Invalid(`--forget must be the collection of a plugin that is not loaded: ${absent.join(', ') || 'there is none'}`)
    await this.#documents.commit({ update: beginningId, in: beginnings, pull: { owners: [owner] } })
  }

  #loaded(): string[] {
    return [...new Set(this.#owners.all().flatMap(({ places }) => places.map(place => place.in.name)))]
  }

  async #beginning(): Promise<FirstStart> {
    const beginning = await this.#documents.get(beginnings, beginningId)
    if (!beginning) throw new Error('The record of blobs.sweep is missing')
    return beginning
  }
}
wire(RecordFirstStart, DocumentStore, Clock, BlobOwners, BlobStore, Log)

const keptFor = (absent: readonly string[]): string =>
  `No bytes are deleted, because the plugin with the collection ${absent.join(', ')} is not loaded, whose records may refer to them: load it, or delete its bytes with ${absent.map(name => `\`pounce blobs sweep --forget ${name}\``).join(', ')}`

/** The result of a sweep. */
export interface SweepReport {
  readonly seen: number
  readonly removed: number
  readonly removedBytes: number
  /** Unreferenced, and older than the records: not deleted. */
  readonly older: number
}

/**
 * Finds unreferenced bytes: an upload stores bytes first and its record afterwards, so a crash in between leaves some.
 * Bytes younger than the grace period may belong to an active upload and are kept. So are bytes older than the records: if the records were lost, or
 * belong to another installation, nothing in the store would be referenced. While a plugin whose records refer to bytes is not loaded, all are kept.
 */
export class OrphanSweep {
  #graceMs: number
  #blobs: BlobStore
  #owners: Contributions<BlobOwner>
  #beginning: RecordFirstStart
  #clock: Clock
  #log: Log
  #metrics: Metrics

  constructor(
    { graceHours }: s.Static<typeof config>,
    blobs: BlobStore,
    owners: Contributions<BlobOwner>,
    beginning: RecordFirstStart,
    clock: Clock,
    log: Log,
    metrics: Metrics,
  ) {
    this.#graceMs = graceHours * 60 * 60 * 1000
    this.#blobs = blobs
    this.#owners = owners
    this.#beginning = beginning
    this.#clock = clock
    this.#log = log
    this.#metrics = metrics
  }

  async run(signal: AbortSignal): Promise<void> {
    const absent = await this.#beginning.absent()
    if (absent.length > 0) return this.#log.warn(keptFor(absent))
    const { seen, removed, removedBytes, older } = await this.sweep({ signal })
    if (removed > 0) this.#log.info('Unreferenced bytes deleted', { seen, removed, removedBytes })
    if (older > 0) this.#log.warn('Unreferenced bytes are older than the records and were kept: see blobs.sweep', { seen, kept: older })
  }

  /** Throws `Conflict` while a plugin whose records refer to bytes is not loaded. */
  async sweep(
    options: {
      readonly signal?: AbortSignal
      readonly graceMs?: number
      /** Includes bytes older than the records. */
      readonly removesOlder?: boolean
      progress?(seen: number): void
    } = {},
  ): Promise<SweepReport> {
    const absent = await this.#beginning.absent()
    if (absent.length > 0) throw new Conflict(keptFor(absent))
    const since = options.removesOlder ? new Date(0) : await this.#beginning.at()
    const report = { seen: 0, removed: 0, removedBytes: 0, older: 0 }
    for await (const { orphans, seen } of this.orphans(options)) {
      report.seen += seen
      for (const orphan of orphans) {
        if (orphan.modified < since) {
          report.older += 1
          continue
        }
        await this.#blobs.remove(orphan.key)
        report.removed += 1
        report.removedBytes += orphan.sizeBytes
      }
      options.progress?.(report.seen)
    }
    this.#metrics.count('orphan_blobs_removed_total', {}, report.removed)
    return report
  }

  /** Unreferenced bytes older than the grace period, with the number of blobs that were seen, in batches. */
  async *orphans({
    graceMs = this.#graceMs,
    signal,
  }: {
    readonly graceMs?: number
    readonly signal?: AbortSignal
  } = {}): AsyncGenerator<{ readonly seen: number; readonly orphans: readonly BlobEntry[] }> {
    const bound = this.#clock.now().getTime() - graceMs
    let seen = 0
    let batch: BlobEntry[] = []
    for await (const entry of this.#blobs.list()) {
      if (signal?.aborted) break
      seen += 1
      if (entry.modified.getTime() > bound) continue
      batch.push(entry)
      if (batch.length < batchSize) continue
      yield { seen, orphans: await this.#orphansAmong(batch) }
      seen = 0
      batch = []
    }
    yield { seen, orphans: await this.#orphansAmong(batch) }
  }

  /** Whether bytes still exist and no record refers to them. */
  async isOrphan(entry: BlobEntry): Promise<boolean> {
    return (await this.#blobs.stat(entry.key)) !== undefined && (await this.#orphansAmong([entry])).length > 0
  }

  async #orphansAmong(batch: readonly BlobEntry[]): Promise<readonly BlobEntry[]> {
    let unknown = batch.map(entry => entry.key)
    for (const owner of this.#owners.all()) {
      if (unknown.length === 0) return []
      const owned = await owner.owned(unknown)
      unknown = unknown.filter(key => !owned.has(key))
    }
    const orphans = new Set(unknown)
    return batch.filter(entry => orphans.has(entry.key))
  }
}
wire(OrphanSweep, Config, BlobStore, BlobOwners, RecordFirstStart, Clock, Log, Metrics)

/** `pounce blobs sweep`. */
export class SweepCommand implements Command {
  readonly name = 'blobs sweep'
  readonly summary = 'Delete unreferenced bytes from the blob store'
  readonly options = [
    { name: 'grace-hours', summary: 'Keep bytes younger than this many hours', takesValue: true },
    { name: 'older', summary: 'Also delete bytes older than the records of this installation', takesValue: false },
    { name: 'forget', summary: 'Delete the bytes of a plugin that is not loaded, by the name of its collection', takesValue: true },
  ]
  #sweep: OrphanSweep
  readonly #beginning: RecordFirstStart

  constructor(sweep: OrphanSweep, beginning: RecordFirstStart) {
    this.#sweep = sweep
    this.#beginning = beginning
  }

  async run(
    { options }: { readonly options: Readonly<Record<string, string | boolean>> },
    progress: (message: string) => void,
  ): Promise<Readonly<Record<string, unknown>>> {
    const hours = options['grace-hours']
    const graceMs = typeof hours === 'string' ? Number(hours.trim() || Number.NaN) * 60 * 60 * 1000 : undefined
    if (graceMs !== undefined && !(graceMs >= 0)) throw new Invalid('--grace-hours must be a number, 0 or more')
    if (typeof options['forget'] === 'string') await this.#beginning.forget(options['forget'])
    const report = await this.#sweep.sweep({
      progress: seen => progress(`${seen} blobs looked at`),
      ...(graceMs === undefined ? {} : { graceMs }),
      removesOlder: options['older'] === true,
    })
    return { ...report }
  }
}
wire(SweepCommand, OrphanSweep, RecordFirstStart)

/** The part of `pounce doctor` that finds unreferenced bytes. Those of uploads in progress are younger than the grace period. */
export class SweepDoctor implements Command {
  readonly name = 'doctor'
  readonly summary = 'Check the installation for problems; changes nothing without an option'
  readonly #sweep: OrphanSweep
  readonly #documents: DocumentStore

  constructor(sweep: OrphanSweep, documents: DocumentStore) {
    this.#sweep = sweep
    this.#documents = documents
  }

  async run(_input: unknown, progress: (message: string) => void): Promise<readonly DoctorRow[]> {
    progress('unreferenced bytes')
    const found: BlobEntry[] = []
    for await (const { orphans } of this.#sweep.orphans()) found.push(...orphans.slice(0, maxFound - found.length))
    // The bytes of deleted files are deleted in the background.
    const remains = (entry: BlobEntry): Promise<boolean> => this.#sweep.isOrphan(entry)
    const text = ({ key, sizeBytes }: BlobEntry): string => `${key} (${sizeBytes} bytes)`
    const remedy = '`pounce blobs sweep` deletes them, with `--older` also those that are older than the records'
    return [await doctorRow(this.#documents, 'unreferenced bytes', found, { remains, text, remedy })]
  }
}
wire(SweepDoctor, OrphanSweep, DocumentStore)

/** Deletions that wait for a disk or a server run concurrently. */
const maxConcurrent = 50

/** Bytes are deleted last, and only when no other record refers to them. */
export class DeleteUnreferencedBlobs implements BatchHandler {
  #blobs: BlobStore
  #owners: Contributions<BlobOwner>

  constructor(blobs: BlobStore, owners: Contributions<BlobOwner>) {
    this.#blobs = blobs
    this.#owners = owners
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    const named = events.flatMap(({ data }) => ('blob' in data && data.blob !== null ? [data.blob] : []))
    let free = [...new Set(named)]
    for (const owner of this.#owners.all()) {
      if (free.length === 0) return
      const owned = await owner.owned(free)
      free = free.filter(key => !owned.has(key))
    }
    for (let at = 0; at < free.length; at += maxConcurrent)
      await Promise.all(free.slice(at, at + maxConcurrent).map(key => this.#blobs.remove(key)))
  }
}
wire(DeleteUnreferencedBlobs, BlobStore, BlobOwners)
