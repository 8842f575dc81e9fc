import {
  Clock,
  collection,
  DocumentStore,
  eq,
  event,
  type FileRecord,
  Log,
  Metrics,
  NotFound,
  type Stored,
  type Time,
  wire,
} from 'pounce/sdk'
import { type FileScan, unlessConflict } from 'pounce/sdk/kit'
import { files } from './collection.ts'
import { FileRemoval } from './file-removal.ts'

type File = FileRecord & Stored

/** A file in quarantine, by id. */
export interface QuarantinedFile {
  readonly at: Time
  readonly signature: string
}

/** A separate collection: few files are in it, and each index on files costs every upload. */
export const quarantinedFiles = collection<QuarantinedFile>()('files.quarantine', { byTime: { on: ['at'] } })

const maxListed = 1000

/** Stores scan results, and blocks access to files in which malware was found. */
export class FileQuarantine {
  #documents: DocumentStore
  #removal: FileRemoval
  #clock: Clock
  #log: Log
  #metrics: Metrics

  constructor(documents: DocumentStore, removal: FileRemoval, clock: Clock, log: Log, metrics: Metrics) {
    this.#documents = documents
    this.#removal = removal
    this.#clock = clock
    this.#log = log
    this.#metrics = metrics
  }

  /** Makes a file available whose scan was pending or that was never scanned; no effect on others. */
  async pass(file: File, state: 'clean' | 'skipped'): Promise<void> {
    if (file.scan !== undefined && file.scan.state !== 'pending' && file.scan.state !== 'skipped') return
    if (file.scan?.state === state) return
    await this.#settle(file, { state }, file.scan?.state === 'pending')
  }

  /** Quarantines all files with these bytes, except those that were released from quarantine for the same signature. */
  async put(blob: string, signature: string): Promise<void> {
    for await (const file of this.#documents.scan(files, { using: 'byBlob', where: eq('blob', blob) })) await this.#put(file, signature)
  }

  /**
   * Makes all files with the bytes of this one available: the finding is a false positive. Throws `NotFound` for a file that is not in
   * quarantine.
   */
  async release(id: string): Promise<void> {
    const { signature } = await this.#existing(id)
    const blob = (await this.#documents.get(files, id))?.blob ?? ''
    for await (const file of this.#documents.scan(files, { using: 'byBlob', where: eq('blob', blob) })) {
      if (file.scan?.state === 'infected') await this.#settle(file, { state: 'released', signature }, true)
      await this.#forget(file.id)
    }
    await this.#forget(id)
  }

  /** Deletes a quarantined file. Throws `NotFound` for one that is not in quarantine. */
  async remove(id: string, actor: string | undefined): Promise<void> {
    await this.#existing(id)
    const file = await this.#documents.get(files, id)
    if (file) await this.#removal.remove(file, actor)
    else await this.#forget(id)
  }

  /** Newest first, with the files that still exist; at most 1,000. */
  async list(): Promise<readonly { readonly entry: QuarantinedFile & Stored; readonly file: File }[]> {
    const sort = { by: 'at', order: 'descending' } as const
    const { items } = await this.#documents.find(quarantinedFiles, { using: 'byTime', sort, limit: maxListed })
    const found = await this.#documents.getMany(
      files,
      items.map(({ id }) => id),
    )
    return items.flatMap(entry => {
      const file = found.get(entry.id)
      return file?.scan?.state === 'infected' ? [{ entry, file }] : []
    })
  }

  /** Removes deleted files from the list. */
  async forgetAll(ids: readonly string[]): Promise<void> {
    const known = await this.#documents.getMany(quarantinedFiles, ids)
    for (const id of known.keys()) await this.#forget(id)
  }

  async #put(file: File, signature: string): Promise<void> {
    const { id, status, author, scan } = file
    if (scan?.state === 'infected' || (scan?.state === 'released' && scan.signature === signature)) return
    // Write the list first: after a crash in between, the scan is repeated and finds the file still unmarked.
    const record = { id, at: this.#clock.now().toISOString(), signature }
    await unlessConflict(this.#documents.commit({ insert: record, into: quarantinedFiles }))
    const marked: FileScan = { state: 'infected', signature, ...(scan?.extract ? { extract: true } : {}) }
    // Its jobs are not submitted, and clients that wait for PROCESSED must not wait forever.
    const set = { scan: marked, ...(status === 'CREATED' ? { status: 'PROCESSED' } : {}) }
    const quarantined = await unlessConflict(
      this.#documents.commit({ update: id, in: files, where: eq('revision', file.revision), set }, [
        event('file.quarantined', { kind: 'file', id }, { signature }, author),
      ]),
    )
    if (quarantined) {
      this.#metrics.count('quarantined_files_total')
      this.#log.warn('Malware found; file quarantined', { file: id, signature })
      return
    }
    const now = await this.#documents.get(files, id)
    if (now) await this.#put(now, signature)
    else await this.#forget(id)
  }

  async #settle(file: File, scan: FileScan & { readonly state: 'clean' | 'skipped' | 'released' }, announces: boolean): Promise<void> {
    const { id, places, author } = file
    const extract = file.scan?.extract ?? false
    const scanned = event('file.scanned', { kind: 'file', id }, { state: scan.state, extract, dataset: places[0]?.dataset ?? null }, author)
    const updated = await unlessConflict(
      this.#documents.commit({ update: id, in: files, where: eq('revision', file.revision), set: { scan } }, announces ? [scanned] : []),
    )
    if (updated) return
    const now = await this.#documents.get(files, id)
    // A concurrent scan result takes precedence.
    if (now && now.scan?.state === file.scan?.state) await this.#settle(now, scan, announces)
  }

  async #existing(id: string): Promise<QuarantinedFile> {
    const entry = await this.#documents.get(quarantinedFiles, id)
    if (!entry) throw new NotFound('quarantined file')
    return entry
  }

  async #forget(id: string): Promise<void> {
    await unlessConflict(this.#documents.commit({ tombstone: id, in: quarantinedFiles }))
  }
}
wire(FileQuarantine, DocumentStore, FileRemoval, Clock, Log, Metrics)
