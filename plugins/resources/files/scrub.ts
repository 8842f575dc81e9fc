import { setTimeout as pause } from 'node:timers/promises'
import {
  BlobStore,
  Clock,
  type Command,
  CommitConflict,
  CorruptContent,
  collection,
  DocumentStore,
  type FileRecord,
  Ids,
  Log,
  Metrics,
  NotFound,
  type Stored,
  type s,
  type Time,
  wire,
} from 'pounce/sdk'
import { youngGeneration } from 'pounce/sdk/kit'
import { files } from './collection.ts'
import { FileDamage } from './file-damage.ts'
import { ReadFailures } from './read-failures.ts'
import { Config, type config } from './stored-files.ts'

/** The progress of the pass over all files, so that it resumes after a restart. */
interface Pass {
  readonly began: Time
  /** The last file that was read; null at the end of a pass. */
  readonly after: string | null
}

export const scrubs = collection<Pass>()('files.scrub', {})
const passId = '000000000000000000000001'

const dayMs = 86_400_000
const savedEveryMs = 10_000
/** Number of unreadable files of a pass that are logged. */
const maxNamed = 20

/** The result of checking all files. */
export interface ScrubReport {
  readonly files: number
  readonly damaged: number
  readonly missing: number
  /** Files whose bytes could not be checked, such as those whose encryption key is missing. They are not marked. */
  readonly unreadable: number
  readonly bytes: number
}

type File = FileRecord & Stored

type Fault = 'damaged' | 'missing'

interface ScrubOptions {
  readonly mibPerSecond?: number
  readonly signal?: AbortSignal
}

/** Reads the stored bytes of all files periodically, so that damage is found while there still is a backup. */
export class Scrub {
  #settings: s.Static<typeof config>
  #documents: DocumentStore
  #blobs: BlobStore
  #damage: FileDamage
  #ids: Ids
  #clock: Clock
  #log: Log
  #metrics: Metrics

  constructor(
    settings: s.Static<typeof config>,
    documents: DocumentStore,
    blobs: BlobStore,
    damage: FileDamage,
    ids: Ids,
    clock: Clock,
    log: Log,
    metrics: Metrics,
  ) {
    this.#settings = settings
    this.#documents = documents
    this.#blobs = blobs
    this.#damage = damage
    this.#ids = ids
    this.#clock = clock
    this.#log = log
    this.#metrics = metrics
  }

  /** Continues the current pass, or begins a new one when the last one, or the first start of the server, was long enough ago. */
  async run(signal: AbortSignal): Promise<void> {
    const { scrubDays, scrubMiBPerSecond } = this.#settings
    if (scrubDays === 0) return
    const now = this.#clock.now()
    const last = await this.#documents.get(scrubs, passId)
    // Files of a new server were verified when they were uploaded, so an immediate first pass would be redundant.
    if (!last) return this.#save({ began: now.toISOString(), after: null })
    const isOver = last.after === null
    if (isOver && now.getTime() - Date.parse(last.began) < scrubDays * dayMs) return
    const began = isOver ? now.toISOString() : last.began
    const report = await this.scrub({
      ...{ signal, mibPerSecond: scrubMiBPerSecond, after: last.after ?? '' },
      reached: after => this.#save({ began, after }),
    })
    if (signal.aborted) return
    await this.#save({ began, after: null })
    if (report.damaged + report.missing > 0) this.#log.error('The checksum verification found damaged bytes', { ...report })
  }

  /** Reads all existing files after a given one, marks damaged ones and unmarks valid ones. */
  async scrub({
    signal,
    after = '',
    mibPerSecond = Number.POSITIVE_INFINITY,
    reached = async () => undefined,
  }: {
    readonly signal?: AbortSignal
    readonly after?: string
    readonly mibPerSecond?: number
    reached?(file: string): Promise<void>
  } = {}): Promise<ScrubReport> {
    const report = { files: 0, damaged: 0, missing: 0, unreadable: 0, bytes: 0 }
    const failures = new ReadFailures(this.#blobs)
    let saved = performance.now()
    // Files uploaded meanwhile have just been verified, and are left to the next pass.
    const next = this.#ids.next()
    for await (const file of this.#documents.walk(files, after)) {
      if (signal?.aborted || file.id > next) break
      const { fault, unreadable } = await failures.faultIn(() => this.#check(file, { mibPerSecond, ...(signal ? { signal } : {}) }))
      if (unreadable !== undefined && report.unreadable < maxNamed)
        this.#log.error('A file could not be verified', { file: file.id, reason: unreadable })
      report[unreadable === undefined ? (fault ?? 'files') : 'unreadable'] += 1
      report.bytes += file.sizeBytes
      if (performance.now() - saved < savedEveryMs || signal?.aborted) continue
      await reached(file.id)
      saved = performance.now()
    }
    const read = report.files + report.damaged + report.missing
    this.#metrics.count('scrubbed_files_total', {}, read)
    return { ...report, files: read + report.unreadable }
  }

  /** The fault of a file's stored bytes; undefined when there is none. Does not mark the file. */
  async faultOf(file: File, { isRead, ...pace }: { readonly isRead: boolean } & ScrubOptions): Promise<Fault | undefined> {
    const fault = await this.faultOfBlob(file.blob, file.sizeBytes, { isRead, ...pace })
    if (fault === undefined) return undefined
    // The bytes of an archived file may be elsewhere.
    if (fault === 'missing' && file.status === 'ARCHIVED') return undefined
    // It may have been deleted meanwhile.
    return (await this.#documents.get(files, file.id))?.blob === file.blob ? fault : undefined
  }

  /** The fault of any stored bytes; without `sizeBytes`, their length is not checked. */
  faultOfBlob(
    blob: string,
    sizeBytes: number | undefined,
    { isRead, ...pace }: { readonly isRead: boolean } & ScrubOptions,
  ): Promise<Fault | undefined> {
    return faultIn(isRead ? this.#read(blob, sizeBytes, pace) : this.#measure(blob, sizeBytes))
  }

  async #check(file: File, pace: ScrubOptions): Promise<Fault | undefined> {
    const fault = await this.faultOf(file, { isRead: true, ...pace })
    if (fault !== undefined) await this.#damage.damaged(file.blob, 'scrub')
    else if (!pace.signal?.aborted) await this.#damage.repaired(file.id)
    return fault
  }

  async #measure(blob: string, sizeBytes: number | undefined): Promise<void> {
    const info = await this.#blobs.stat(blob)
    if (!info) throw new NotFound('file')
    if (sizeBytes !== undefined && info.sizeBytes !== sizeBytes) throw new CorruptContent()
  }

  async #read(
    blob: string,
    sizeBytes: number | undefined,
    { mibPerSecond = Number.POSITIVE_INFINITY, signal }: ScrubOptions,
  ): Promise<void> {
    const bytes = await this.#blobs.get(blob)
    if (!bytes) throw new NotFound('file')
    const begin = performance.now()
    let read = 0
    for await (const piece of bytes) {
      if (signal?.aborted) return
      const { length } = piece as Uint8Array
      youngGeneration.passed(length)
      read += length
      const aheadMs = (read / (mibPerSecond * 1024 * 1024)) * 1000 - (performance.now() - begin)
      if (aheadMs > 1) await pause(aheadMs)
    }
    // Their own checksums do not show that the store delivers other bytes than the file had, such as encrypted ones without the plugin that decrypts them.
    if (sizeBytes !== undefined && read !== sizeBytes) throw new CorruptContent()
  }

  async #save(pass: Pass): Promise<void> {
    const change = (await this.#documents.get(scrubs, passId))
      ? { update: passId, in: scrubs, set: { ...pass } }
      : { insert: { id: passId, ...pass }, into: scrubs }
    try {
      await this.#documents.commit(change)
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
    }
  }
}
const faultIn = async (check: Promise<void>): Promise<Fault | undefined> => {
  try {
    await check
    return undefined
  } catch (error) {
    if (error instanceof CorruptContent) return 'damaged'
    if (error instanceof NotFound) return 'missing'
    throw error
  }
}

wire(Scrub, Config, DocumentStore, BlobStore, FileDamage, Ids, Clock, Log, Metrics)

/** `pounce files scrub`. */
export class ScrubCommand implements Command {
  readonly name = 'files scrub'
  readonly summary = 'Verify the checksums of all stored files, and mark damaged ones'
  #scrub: Scrub

  constructor(scrub: Scrub) {
    this.#scrub = scrub
  }

  async run(): Promise<Readonly<Record<string, unknown>>> {
    const report = await this.#scrub.scrub()
    return { ok: report.damaged + report.missing + report.unreadable === 0, ...report }
  }
}
wire(ScrubCommand, Scrub)
