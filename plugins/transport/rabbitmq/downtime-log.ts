import { CommitConflict, collection, type DocumentStore, type Log, Problem } from 'pounce/sdk'

/** When the API was last known to work, and when it did not. Dates are ISO 8601 strings in UTC. */
export interface OutageRecord {
  readonly seen: string
  /** The latest ones, oldest first. */
  readonly times: readonly { readonly from: string; readonly to: string }[]
}

/** One document. */
export const outages = collection<OutageRecord>()('transport.bus.outages')

const id = 'api'
const everyMs = 5000
const goneMs = 12_000
/** For a kernel that starts: other kernels, if any, write more often than this. */
const goneAtStartMs = everyMs + 1000
const maxEntries = 50
/** An extractor's request right after a restart may still have failed: its clock differs, and a server takes a moment. */
const slackMs = 15_000

/**
 * The periods in which no kernel could respond: none ran, or the store was unavailable. Every kernel that serves HTTP records regularly that it
 * does; a gap in these records is such a period.
 */
export class DowntimeLog {
  #documents: DocumentStore
  #isServing: boolean
  #now: () => Date
  #log: Log
  #times: OutageRecord['times'] = []
  #timer: NodeJS.Timeout | undefined

  constructor(documents: DocumentStore, isServing: boolean, now: () => Date, log: Log) {
    this.#documents = documents
    this.#isServing = isServing
    this.#now = now
    this.#log = log
  }

  /** Resolves when the time since the last record is known. */
  async start(): Promise<void> {
    await this.look(goneAtStartMs)
    this.#timer = setInterval(() => void this.look(), everyMs).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** True for a time at which no extractor could reach us. */
  include(at: Date): boolean {
    return this.#times.some(({ from, to }) => at.getTime() >= Date.parse(from) && at.getTime() <= Date.parse(to) + slackMs)
  }

  /** Records that the API works. Never rejects: while the store is unavailable nothing is recorded, as intended. */
  async look(gapMs = goneMs): Promise<void> {
    try {
      const record = await this.#documents.get(outages, id)
      this.#times = record?.times ?? []
      if (this.#isServing) await this.#note(record, gapMs)
    } catch (error) {
      const isUsual = error instanceof CommitConflict || (error instanceof Problem && error.status === 503)
      if (!isUsual) this.#log.warn('Failed to record that the API works', { error })
    }
  }

  async #note(record: (OutageRecord & { readonly revision: number; readonly id: string }) | undefined, maxMs: number): Promise<void> {
    const now = this.#now()
    if (!record) {
      await this.#documents.commit({ insert: { id, seen: now.toISOString(), times: [] }, into: outages })
      return
    }
    const gapMs = now.getTime() - Date.parse(record.seen)
    // Another kernel has just recorded it.
    if (gapMs < everyMs / 2) return
    const outage = gapMs > maxMs ? [{ from: record.seen, to: now.toISOString() }] : []
    const times = [...record.times, ...outage].slice(-maxEntries)
    await this.#documents.commit({ replace: { ...record, seen: now.toISOString(), times }, in: outages })
    this.#times = times
  }
}
