import { and, CommitConflict, DocumentStore, Problem, range, type Stored, type UserRecord, type Where, wire } from 'pounce/sdk'
import type { AccountFacts, SessionSource } from 'pounce/sdk/kit'
import { type Holder, type HolderKind, holderOf, keyOf, type LimitRecord, limits, type UsageRecord, usages } from './collections.ts'
import { Config, type Settings } from './config.ts'

/** Limits of 0 are none. */
export interface Limit {
  readonly maxBytes: number
  readonly maxFiles: number
}

const nothing: UsageRecord = { bytes: 0, files: 0 }
const isOver = (used: number, more: number, max: number): boolean => max > 0 && more > 0 && used + more > max

const sentence = (used: number, more: number, max: number, unit: string): string | undefined =>
  max > 0 && more > 0 && used + more > max ? `${used} of ${max} ${unit} are used and this needs ${more} more` : undefined

/** 413: a person or a space would store more than it may. Nothing was stored. */
export class QuotaExceeded extends Problem {
  constructor(
    kind: HolderKind,
    used: UsageRecord,
    { maxBytes, maxFiles }: { readonly maxBytes: number; readonly maxFiles: number },
    more: UsageRecord,
  ) {
    const whose = kind === 'user' ? 'Your storage quota' : 'The storage quota of the space'
    const found = [sentence(used.bytes, more.bytes, maxBytes, 'bytes'), sentence(used.files, more.files, maxFiles, 'files')]
    // What was in the way may have been deleted since.
    const why = found.filter(text => text !== undefined).join(', ') || 'another upload took what was left'
    super(
      413,
      'quota-exceeded',
      `${whose} is exceeded: ${why}. Delete files (for good: the trash counts), or ask a server admin for more`,
      {
        details: { quota: { kind, usedBytes: used.bytes, maxBytes, usedFiles: used.files, maxFiles } },
      },
    )
  }
}

/** What people and spaces store, and may store. */
export class UsageLedger {
  readonly #settings: Settings
  readonly #documents: DocumentStore

  constructor(settings: Settings, documents: DocumentStore) {
    this.#settings = settings
    this.#documents = documents
  }

  /** False: nothing is limited, so nothing is read or counted. */
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

  /** Replaces what was set for a holder. */
  async setLimit(holder: Holder, limit: LimitRecord): Promise<void> {
    const id = keyOf(holder)
    await this.#upsert(
      () => this.#documents.commit({ update: id, in: limits, set: { ...limit } }),
      () => this.#documents.commit({ insert: { id, ...limit }, into: limits }),
    )
  }

  /** Throws `QuotaExceeded` when it would not fit now. */
  async check(key: string, { bytes, files }: UsageRecord): Promise<void> {
    const holder = holderOf(key)
    const limit = await this.limitOf(holder)
    if (limit.maxBytes === 0 && limit.maxFiles === 0) return
    const used = await this.usageOf(holder)
    if (isOver(used.bytes, bytes, limit.maxBytes) || isOver(used.files, files, limit.maxFiles)) {
      throw new QuotaExceeded(holder.kind, used, limit, { bytes, files })
    }
  }

  /** Counts more against a holder in one conditional update, or throws `QuotaExceeded` and counts nothing. */
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

  /** Counts more, or less, whatever the limit. */
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

  /** Updates, or inserts what is absent, or updates what another one inserted meanwhile. */
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

/** What people store and may store, for their own session. */
export class StorageFacts implements SessionSource {
  readonly #ledger: UsageLedger

  constructor(ledger: UsageLedger) {
    this.#ledger = ledger
  }

  async factsOf({ id }: UserRecord & Stored): Promise<AccountFacts> {
    if (!this.#ledger.isOn) return {}
    const holder = { kind: 'user', id } as const
    const [{ bytes, files }, limit] = await Promise.all([this.#ledger.usageOf(holder), this.#ledger.limitOf(holder)])
    return { storage: { usedBytes: bytes, usedFiles: files, ...limit } }
  }
}
wire(StorageFacts, UsageLedger)
