import { and, CommitConflict, DocumentStore, Problem, range, type Stored, type UserRecord, type Where, wire } from 'pounce/sdk'
import type { AccountSummary, SessionSource } from 'pounce/sdk/kit'
import { type Holder, type HolderKind, holderOf, keyOf, type LimitRecord, limits, type UsageRecord, usages } from './collections.ts'
import { Config, type Settings } from './config.ts'

/** 0 means no limit. */
export interface Limit {
  readonly maxBytes: number
  readonly maxFiles: number
}

const nothing: UsageRecord = { bytes: 0, files: 0 }
const isOver = (used: number, more: number, max: number): boolean => max > 0 && more > 0 && used + more > max

const sentence = (used: number, more: number, max: number, unit: string): string | undefined =>
  max > 0 && more > 0 && used + more > max ? `${used} of ${max} ${unit} are used and this needs ${more} more` : undefined

/** 413: a user or space would exceed its quota. Nothing was stored. */
class QuotaExceeded extends Problem {
  constructor(
    kind: HolderKind,
    used: UsageRecord,
    { maxBytes, maxFiles }: { readonly maxBytes: number; readonly maxFiles: number },
    more: UsageRecord,
  ) {
    const quota = kind === 'user' ? 'Your storage quota' : 'The storage quota of the space'
    const found = [sentence(used.bytes, more.bytes, maxBytes, 'bytes'), sentence(used.files, more.files, maxFiles, 'files')]
    // What exceeded the quota may have been deleted since.
    const why = found.filter(text => text !== undefined).join(', ') || 'another upload took what was left'
    super(
      413,
      'quota-exceeded',
      `${quota} is exceeded: ${why}. Delete files (for good: the trash counts), or ask a server admin for more`,
      {
        details: { quota: { kind, usedBytes: used.bytes, maxBytes, usedFiles: used.files, maxFiles } },
      },
    )
  }
}

/** The usage and limits of users and spaces. */
export class UsageLedger {
  readonly #settings: Settings
  readonly #documents: DocumentStore

  constructor(settings: Settings, documents: DocumentStore) {
    this.#settings = settings
    this.#documents = documents
  }

  /** False if no limit is configured: then nothing is read or counted. */
  get isOn(): boolean {
    const { countAlways, maxBytesPerPerson, maxFilesPerPerson, maxBytesPerSpace, maxFilesPerSpace } = this.#settings
    return countAlways || maxBytesPerPerson + maxFilesPerPerson + maxBytesPerSpace + maxFilesPerSpace > 0
  }

  async usageOf(holder: Holder): Promise<UsageRecord> {
    const { bytes, files } = (await this.#documents.get(usages, keyOf(holder))) ?? nothing
    return { bytes: Math.max(0, bytes), files: Math.max(0, files) }
  }

  async limitOf({ kind, id }: Holder): Promise<Limit> {
    const set = await this.#documents.get(limits, keyOf({ kind, id }))
    const { maxBytesPerPerson, maxFilesPerPerson, maxBytesPerSpace, maxFilesPerSpace } = this.#settings
    return {
      maxBytes: set?.maxBytes ?? (kind === 'user' ? maxBytesPerPerson : maxBytesPerSpace),
      maxFiles: set?.maxFiles ?? (kind === 'user' ? maxFilesPerPerson : maxFilesPerSpace),
    }
  }

  /** Replaces the limits set for a holder. */
  async setLimit(holder: Holder, limit: LimitRecord): Promise<void> {
    const id = keyOf(holder)
    await this.#upsert(
      () => this.#documents.commit({ update: id, in: limits, set: { ...limit } }),
      () => this.#documents.commit({ insert: { id, ...limit }, into: limits }),
    )
  }

  /** Throws `QuotaExceeded` if the files would not fit now. */
  async check(key: string, { bytes, files }: UsageRecord): Promise<void> {
    const holder = holderOf(key)
    const limit = await this.limitOf(holder)
    if (limit.maxBytes === 0 && limit.maxFiles === 0) return
    const used = await this.usageOf(holder)
    if (isOver(used.bytes, bytes, limit.maxBytes) || isOver(used.files, files, limit.maxFiles)) {
      throw new QuotaExceeded(holder.kind, used, limit, { bytes, files })
    }
  }

  /** Charges a holder in one conditional update, or throws `QuotaExceeded` and charges nothing. */
  async take(key: string, { bytes, files }: UsageRecord): Promise<void> {
    const holder = holderOf(key)
    const limit = await this.limitOf(holder)
    const conditions: Where[] = []
    if (limit.maxBytes > 0 && bytes > 0) conditions.push(range('bytes', { lte: limit.maxBytes - bytes }))
    if (limit.maxFiles > 0 && files > 0) conditions.push(range('files', { lte: limit.maxFiles - files }))
    try {
      await this.#add(key, { bytes, files }, conditions)
    } catch (error) {
      if (!(error instanceof CommitConflict && error.reason === 'guard')) throw error
      throw new QuotaExceeded(holder.kind, await this.usageOf(holder), limit, { bytes, files })
    }
  }

  /** Adds to, or subtracts from, the usage regardless of the limit. */
  add(key: string, { bytes, files }: UsageRecord): Promise<void> {
    return this.#add(key, { bytes, files }, [])
  }

  async #add(key: string, inc: { bytes: number; files: number }, conditions: readonly Where[]): Promise<void> {
    const guard = conditions.length === 0 ? {} : { where: and(...conditions) }
    const update = { update: key, in: usages, ...guard, inc }
    await this.#upsert(
      () => this.#documents.commit(update),
      async () => {
        await this.#documents.commit({ insert: { id: key, ...nothing }, into: usages })
        await this.#documents.commit(update)
      },
    )
  }

  /** Updates; inserts a missing record; updates again if it was inserted concurrently. */
  async #upsert(update: () => Promise<unknown>, insert: () => Promise<unknown>): Promise<void> {
    try {
      await update()
      return
    } catch (error) {
      if (!(error instanceof CommitConflict && error.reason === 'absent')) throw error
    }
    try {
      await insert()
    } catch (error) {
      if (!(error instanceof CommitConflict && error.reason === 'exists')) throw error
      await update()
    }
  }
}
wire(UsageLedger, Config, DocumentStore)

/** The usage and limits of users, for their own session. */
export class StorageUsageSource implements SessionSource {
  readonly #ledger: UsageLedger

  constructor(ledger: UsageLedger) {
    this.#ledger = ledger
  }

  async summaryOf({ id }: UserRecord & Stored): Promise<AccountSummary> {
    if (!this.#ledger.isOn) return {}
    const holder = { kind: 'user', id } as const
    const [{ bytes, files }, limit] = await Promise.all([this.#ledger.usageOf(holder), this.#ledger.limitOf(holder)])
    return { storage: { usedBytes: bytes, usedFiles: files, ...limit } }
  }
}
wire(StorageUsageSource, UsageLedger)
