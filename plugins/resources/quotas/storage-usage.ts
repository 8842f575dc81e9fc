import { Clock, CommitConflict, Datasets, DocumentStore, type EventType, eq, type StorageQuota, type StoredEvent, wire } from 'pounce/sdk'
import { type ChargedTo, requireDone } from 'pounce/sdk/kit'
import { type ChargeRecord, charges, keyOf, type UsageRecord } from './collections.ts'
import { UsageLedger } from './usage-ledger.ts'

const batchSize = 200

/** Charges files to their authors and spaces. */
export class StorageUsage implements StorageQuota {
  readonly #ledger: UsageLedger
  readonly #documents: DocumentStore
  readonly #datasets: Datasets
  readonly #clock: Clock

  constructor(ledger: UsageLedger, documents: DocumentStore, datasets: Datasets, clock: Clock) {
    this.#ledger = ledger
    this.#documents = documents
    this.#datasets = datasets
    this.#clock = clock
  }

  async check(to: ChargedTo, amount: UsageRecord): Promise<void> {
    if (!this.#ledger.isOn) return
    for (const key of await this.#holdersOf(to)) await this.#ledger.check(key, amount)
  }

  async reserve(to: ChargedTo, files: readonly { readonly id: string; readonly sizeBytes: number }[]): Promise<void> {
    if (!this.#ledger.isOn || files.length === 0) return
    const holders = await this.#holdersOf(to)
    const created: string[] = []
    const removed: string[] = []
    const amount = { bytes: 0, files: 0 }
    try {
      for (let at = 0; at < files.length; at += batchSize) {
        for (const { id, sizeBytes } of await this.#charge(holders, files.slice(at, at + batchSize))) {
          created.push(id)
          amount.bytes += sizeBytes
          amount.files += 1
        }
      }
      if (amount.files === 0) return
      for (const key of holders) {
        await this.#ledger.take(key, amount)
        removed.push(key)
      }
    } catch (error) {
      for (const key of removed) await this.#ledger.add(key, { bytes: -amount.bytes, files: -amount.files })
      for (let at = 0; at < created.length; at += batchSize) await this.forget(created.slice(at, at + batchSize))
      throw error
    }
  }

  async release(files: readonly string[]): Promise<void> {
    if (!this.#ledger.isOn) return
    for (const id of files) {
      const marked = await this.#mark(id)
      if (!marked) continue
      for (const key of marked.holders) await this.#ledger.add(key, { bytes: -marked.sizeBytes, files: -1 })
      await this.forget([id])
    }
  }

  /** Releases the charge of a deleted file. A redelivered event finds none. */
  async handle({ subject }: StoredEvent<Extract<EventType, 'file.removed'>>): Promise<void> {
    await this.release([subject.id])
  }

  async #holdersOf({ author, datasets }: ChargedTo): Promise<readonly string[]> {
    const found = datasets.length === 0 ? [] : [...(await this.#datasets.getMany(datasets)).values()]
    return holdersOf(
      author,
      found.flatMap(({ spaces }) => spaces),
    )
  }

  /** Returns those that were not charged before. */
  async #charge<F extends { readonly id: string; readonly sizeBytes: number }>(
    holders: readonly string[],
    some: readonly F[],
  ): Promise<readonly F[]> {
    const at = this.#clock.now().toISOString()
    const done = await this.#documents.commitEach(
      some.map(({ id, sizeBytes }) => ({ change: { insert: { id, holders, sizeBytes, at, isReleased: false }, into: charges } })),
    )
    for (const result of done) {
      if (!result.ok && !(result.error instanceof CommitConflict && result.error.reason === 'exists')) throw result.error
    }
    return some.filter((_, at) => done[at]?.ok)
  }

  /** Marks the charge of a file as released, once. */
  async #mark(id: string): Promise<ChargeRecord | undefined> {
    try {
      const at = this.#clock.now().toISOString()
      return await this.#documents.commit({ update: id, in: charges, where: eq('isReleased', false), set: { isReleased: true, at } })
    } catch (error) {
      if (error instanceof CommitConflict) return undefined
      throw error
    }
  }

  /** Deletes charges without lowering the usage; at most 1,000. */
  async forget(ids: readonly string[]): Promise<void> {
    const done = await this.#documents.commitEach(ids.map(id => ({ change: { tombstone: id, in: charges } })))
    requireDone(done)
  }
}
wire(StorageUsage, UsageLedger, DocumentStore, Datasets, Clock)
/** Keys of the holders that a file is charged to, each once. */
export const holdersOf = (author: string, spaces: readonly string[]): readonly string[] => [
  keyOf({ kind: 'user', id: author }),
  ...[...new Set(spaces)].sort().map(id => keyOf({ kind: 'space', id })),
]
