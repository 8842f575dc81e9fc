import {
  Clock,
  type Collection,
  type Command,
  CommitConflict,
  type Contributions,
  Datasets,
  DocumentStore,
  eq,
  type FileRecord,
  Files,
  type ReportSource,
  ReportSources,
  Spaces,
  type Stored,
  wire,
} from 'pounce/sdk'
import { type DoctorRow, doctorRow, inBatches, requireDone } from 'pounce/sdk/kit'
import { type ChargeRecord, charges, holderOf, limits, type UsageRecord, usages } from './collections.ts'
import { holdersOf, StorageUsage } from './storage-usage.ts'
import { UsageLedger } from './usage-ledger.ts'

type File = FileRecord & Stored
type Charge = ChargeRecord & Stored

const batchSize = 200
/** Maximum number of wrong usages that the doctor reports. */
const maxFound = 1000
/** Charges older than this do not belong to an upload in progress. */
const graceMs = 60 * 60 * 1000
/** For this long after a charge was created or released, its usage may lag: they are two commits. */
const settlingMs = 60 * 1000

export interface Recounted {
  readonly files: number
  readonly corrected: number
}

/** A stored usage, and what it should be. */
interface WrongUsage {
  readonly usage: UsageRecord & Stored
  readonly sum: UsageRecord
}

const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every(one => others.includes(one))

/**
 * Corrects usages to match the existing files: datasets change spaces, quotas are enabled late, and a kernel may crash between two commits.
 */
export class Recount {
  readonly #ledger: UsageLedger
  readonly #storage: StorageUsage
  readonly #documents: DocumentStore
  readonly #files: Files
  readonly #datasets: Datasets
  readonly #spaces: Spaces
  readonly #sources: Contributions<ReportSource>
  readonly #clock: Clock

  constructor(
    ledger: UsageLedger,
    storage: StorageUsage,
    documents: DocumentStore,
    files: Files,
    datasets: Datasets,
    spaces: Spaces,
    sources: Contributions<ReportSource>,
    clock: Clock,
  ) {
    this.#ledger = ledger
    this.#storage = storage
    this.#documents = documents
    this.#files = files
    this.#datasets = datasets
    this.#spaces = spaces
    this.#sources = sources
    this.#clock = clock
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.recount(signal)
  }

  async recount(signal?: AbortSignal): Promise<Recounted> {
    if (!this.#ledger.isOn) return { files: 0, corrected: 0 }
    const files = await this.#chargeAll(signal)
    await this.#releaseOrphans(signal)
    const corrected = await this.#correct(signal)
    await this.#forgetSpaces(signal)
    return { files, corrected }
  }

  /** Updates the charges of files to the spaces of their datasets: after a move, or for files created otherwise. */
  async settle(files: readonly File[]): Promise<void> {
    if (!this.#ledger.isOn) return
    const known = await this.#documents.getMany(
      charges,
      files.map(({ id }) => id),
    )
    const ids = new Set(files.flatMap(({ places }) => places.map(({ dataset }) => dataset)))
    const datasets = new Map<string, { readonly spaces: readonly string[] }>()
    const all = [...ids]
    for (let at = 0; at < all.length; at += batchSize) {
      for (const [id, dataset] of await this.#datasets.getMany(all.slice(at, at + batchSize))) datasets.set(id, dataset)
    }
    for (const file of files) {
      const holders = holdersOf(
        file.author,
        file.places.flatMap(({ dataset }) => datasets.get(dataset)?.spaces ?? []),
      )
      await this.#settleOne(file, known.get(file.id), holders)
    }
  }

  async #settleOne({ id, sizeBytes }: File, charge: Charge | undefined, holders: readonly string[]): Promise<void> {
    if (charge && (charge.isReleased || (charge.sizeBytes === sizeBytes && isSame(charge.holders, holders)))) return
    try {
      if (charge)
        await this.#documents.commit({ update: id, in: charges, where: eq('revision', charge.revision), set: { holders, sizeBytes } })
      else {
        const at = this.#clock.now().toISOString()
        await this.#documents.commit({ insert: { id, holders, sizeBytes, at, isReleased: false }, into: charges })
      }
    } catch (error) {
      // The concurrent change is counted by its own handler, or by the next recount.
      if (error instanceof CommitConflict) return
      throw error
    }
    for (const key of charge?.holders ?? []) await this.#ledger.add(key, { bytes: -(charge?.sizeBytes ?? 0), files: -1 })
    for (const key of holders) await this.#ledger.add(key, { bytes: sizeBytes, files: 1 })
  }

  async #chargeAll(signal: AbortSignal | undefined): Promise<number> {
    let count = 0
    const records = this.#sources.all().find(({ kind }) => kind === 'file')?.records as Collection<FileRecord> | undefined
    if (!records) return count
    for await (const some of inBatches(this.#documents.walk(records), { signal })) {
      await this.settle(some)
      count += some.length
    }
    return count
  }

  /** Releases charges without a file: the upload failed, or the file was deleted. */
  async #releaseOrphans(signal: AbortSignal | undefined): Promise<void> {
    const before = new Date(this.#clock.now().getTime() - graceMs).toISOString()
    for await (const some of inBatches(this.#documents.walk(charges), { signal })) {
      const old = some.filter(({ at }) => at < before).map(({ id }) => id)
      if (old.length === 0) continue
      const there = await this.#files.getMany(old)
      const removed = some.filter(({ id, at }) => at < before && !there.has(id))
      await this.#storage.release(removed.filter(({ isReleased }) => !isReleased).map(({ id }) => id))
      // Left by a kernel that crashed: the sum below corrects the usage.
      await this.#storage.forget(removed.filter(({ isReleased }) => isReleased).map(({ id }) => id))
    }
  }

  async #correct(signal: AbortSignal | undefined): Promise<number> {
    let corrected = 0
    for await (const { id } of this.#documents.walk(usages)) {
      signal?.throwIfAborted()
      if (await this.#correctOne(id)) corrected += 1
    }
    return corrected
  }

  /** Deletes what is stored about deleted spaces: their limits, and their usages once these are zero. */
  async #forgetSpaces(signal: AbortSignal | undefined): Promise<void> {
    for await (const some of inBatches(this.#documents.walk(limits), { signal })) await this.#forget(limits, some)
    for await (const some of inBatches(this.#documents.walk(usages), { signal })) {
      const unused = some.filter(({ bytes, files }) => bytes === 0 && files === 0)
      await this.#forget(usages, unused)
    }
  }

  async #forget<T extends object>(from: Collection<T>, records: readonly (T & Stored)[]): Promise<void> {
    const ofSpaces = records.filter(({ id }) => holderOf(id).kind === 'space')
    const existing = await this.#spaces.getMany(ofSpaces.map(({ id }) => holderOf(id).id))
    const removed = ofSpaces.filter(({ id }) => !existing.has(holderOf(id).id))
    const where = ({ revision }: Stored) => eq('revision', revision) as never
    requireDone(await this.#documents.commitEach(removed.map(each => ({ change: { tombstone: each.id, in: from, where: where(each) } }))))
  }

  /** The usages that differ from the sum of their charges. */
  async *wrongUsages(): AsyncGenerator<WrongUsage> {
    if (!this.#ledger.isOn) return
    for await (const { id } of this.#documents.walk(usages)) {
      const wrong = await this.wrongUsage(id)
      if (wrong) yield wrong
    }
  }

  /** Undefined for a correct usage, and for one that changes while it is summed, or is about to. */
  async wrongUsage(key: string): Promise<WrongUsage | undefined> {
    const usage = await this.#documents.get(usages, key)
    const sum = usage && (await this.#sumOf(key))
    if (!sum || (usage.bytes === sum.bytes && usage.files === sum.files)) return undefined
    return (await this.#documents.get(usages, key))?.revision === usage.revision ? { usage, sum } : undefined
  }

  async #correctOne(key: string): Promise<boolean> {
    const wrong = await this.wrongUsage(key)
    if (!wrong) return false
    const { bytes, files } = wrong.sum
    try {
      await this.#documents.commit({ update: key, in: usages, where: eq('revision', wrong.usage.revision), set: { bytes, files } })
      return true
    } catch (error) {
      if (error instanceof CommitConflict) return false
      throw error
    }
  }

  /** Undefined while charges are being created or released. */
  async #sumOf(key: string): Promise<UsageRecord | undefined> {
    const settled = new Date(this.#clock.now().getTime() - settlingMs).toISOString()
    const sum = { bytes: 0, files: 0 }
    for await (const { at, sizeBytes } of this.#documents.scan(charges, { using: 'byHolder', where: eq('holders', key) })) {
      if (at > settled) return undefined
      sum.bytes += sizeBytes
      sum.files += 1
    }
    return sum
  }
}
wire(Recount, UsageLedger, StorageUsage, DocumentStore, Files, Datasets, Spaces, ReportSources, Clock)

/** `pounce quota recount`. */
export class RecountCommand implements Command {
  readonly name = 'quota recount'
  readonly summary = 'Recount the storage of users and spaces, and correct the quota usage'
  readonly #recount: Recount

  constructor(recount: Recount) {
    this.#recount = recount
  }

  async run(): Promise<Readonly<Record<string, unknown>>> {
    return { ...(await this.#recount.recount()) }
  }
}
wire(RecountCommand, Recount)

/** The part of `pounce doctor` that compares storage usages with the charged files. */
export class UsageDoctor implements Command {
  readonly name = 'doctor'
  readonly summary = 'Check the installation for problems; changes nothing without an option'
  readonly #recount: Recount
  readonly #documents: DocumentStore

  constructor(recount: Recount, documents: DocumentStore) {
    this.#recount = recount
    this.#documents = documents
  }

  async run(_input: unknown, progress: (message: string) => void): Promise<readonly DoctorRow[]> {
    progress('storage usage')
    const found: WrongUsage[] = []
    for await (const wrong of this.#recount.wrongUsages()) if (found.length < maxFound) found.push(wrong)
    const remains = async ({ usage }: WrongUsage): Promise<boolean> => (await this.#recount.wrongUsage(usage.id)) !== undefined
    const text = ({ usage, sum }: WrongUsage): string =>
      `${usage.id}: ${usage.files} files of ${usage.bytes} bytes instead of ${sum.files} of ${sum.bytes}`
    const remedy = '`pounce quota recount` corrects them'
    return [await doctorRow(this.#documents, 'storage usage', found, { remains, text, remedy })]
  }
}
wire(UsageDoctor, Recount, DocumentStore)

/** A file that is added to or removed from a dataset is charged to other spaces. */
export class UpdateUsageOnPlacement {
  readonly #recount: Recount
  readonly #files: Files

  constructor(recount: Recount, files: Files) {
    this.#recount = recount
    this.#files = files
  }

  async handle({ subject }: { readonly subject: { readonly id: string } }): Promise<void> {
    const file = await this.#files.get(subject.id)
    if (file) await this.#recount.settle([file])
  }
}
wire(UpdateUsageOnPlacement, Recount, Files)
