import {
  type AnyEvent,
  BlobStore,
  type Command,
  type Contributions,
  DocumentStore,
  type FileRecord,
  Files,
  type MalwareScan,
  MalwareScanners,
  type Stored,
  type StoredEvent,
  Unavailable,
  wire,
} from 'pounce/sdk'
import type { ScanResult } from 'pounce/sdk/kit'
import { files } from './collection.ts'
import { FileDamage } from './file-damage.ts'
import { FileQuarantine } from './file-quarantine.ts'

type File = FileRecord & Stored

/** Has files scanned, and acts on the results of the scanners. */
class FileScans {
  #scanners: Contributions<MalwareScan>
  #blobs: BlobStore
  #damage: FileDamage
  #quarantine: FileQuarantine

  constructor(scanners: Contributions<MalwareScan>, blobs: BlobStore, damage: FileDamage, quarantine: FileQuarantine) {
    this.#scanners = scanners
    this.#blobs = blobs
    this.#damage = damage
    this.#quarantine = quarantine
  }

  get isActive(): boolean {
    return this.#scanners.all().length > 0
  }

  /** Resolves once the result is durable. */
  async scan(file: File): Promise<ScanResult> {
    const result = await this.#scanResult(file)
    if (result.state === 'infected') await this.#quarantine.put(file.blob, result.signature)
    else await this.#quarantine.pass(file, result.state)
    return result
  }

  /** A file is clean if all scanners report it as clean. A file without bytes, such as an archived one, is skipped. */
  async #scanResult({ blob, sizeBytes }: File): Promise<ScanResult> {
    let result: ScanResult = { state: 'skipped', reason: 'no malware scanner is loaded' }
    for (const scanner of this.#scanners.all()) {
      const bytes = await this.#damage.open(blob, () => this.#blobs.get(blob))
      if (!bytes) return { state: 'skipped', reason: 'its bytes are not in the blob store' }
      const scanned = await scanner.scan(bytes, { sizeBytes })
      if (scanned.state === 'infected') return scanned
      if (scanned.state === 'clean' || result.state !== 'clean') result = scanned
    }
    return result
  }
}
wire(FileScans, MalwareScanners, BlobStore, FileDamage, FileQuarantine)

/** Scans a new file once its record and bytes are durable; until then it cannot be downloaded. */
export class ScanNewFile {
  #files: Files
  #scans: FileScans

  constructor(all: Files, scans: FileScans) {
    this.#files = all
    this.#scans = scans
  }

  async handle({ subject }: StoredEvent<'file.scan-due'>): Promise<void> {
    const file = await this.#files.get(subject.id)
    if (file?.scan?.state === 'pending') await this.#scans.scan(file)
  }
}
wire(ScanNewFile, Files, FileScans)

/** Removes deleted files from quarantine. */
export class DeleteQuarantineOnFileRemoved {
  #quarantine: FileQuarantine

  constructor(quarantine: FileQuarantine) {
    this.#quarantine = quarantine
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    await this.#quarantine.forgetAll(events.map(({ subject }) => subject.id))
  }
}
wire(DeleteQuarantineOnFileRemoved, FileQuarantine)

/** `pounce files rescan`. */
export class RescanCommand implements Command {
  readonly name = 'files rescan'
  readonly summary = 'Scan all files for malware with the current signatures, and quarantine infected ones'
  #documents: DocumentStore
  #scans: FileScans

  constructor(documents: DocumentStore, scans: FileScans) {
    this.#documents = documents
    this.#scans = scans
  }

  async run(_input: unknown, progress: (message: string) => void): Promise<Readonly<Record<string, unknown>>> {
    if (!this.#scans.isActive) throw new Unavailable('No malware scanner is loaded: add scan.clamav to replacePlugins')
    const report = { files: 0, clean: 0, infected: 0, skipped: 0, failed: 0 }
    for await (const file of this.#documents.walk(files, '')) {
      report.files += 1
      try {
        report[(await this.#scans.scan(file)).state] += 1
      } catch (error) {
        if (error instanceof Unavailable) throw error
        report.failed += 1
        progress(`${file.id} could not be scanned: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
    return report
  }
}
wire(RescanCommand, DocumentStore, FileScans)
