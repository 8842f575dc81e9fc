import type { NewEvent } from './events.ts'
import type { Clock, Log } from './ports/kernel.ts'
import type { Records } from './ports/records.ts'
import { pause } from './time-limit.ts'

interface Pending {
  downloads: number
  lastDownloaded: string
  readonly events: NewEvent[]
  readonly stored: PromiseWithResolvers<void>
}

const maxConcurrent = 64
/** More downloads than this between two flushes are treated as load. */
const maxCalmEvents = 4
const pauseMs = 250
const maxPending = 10_000

/**
 * Counts downloads in the statistics of the downloaded resources. Downloads do not wait for their count, and a count lost in a crash is acceptable. Under load
 * the downloads of a quarter of a second are written as one update per resource, with one event per download; readers of the statistics await `counted`.
 */
export class DownloadCounts {
  readonly #records: Pick<Records<object>, 'change'>
  readonly #clock: Clock
  readonly #log: Log
  #pending = new Map<string, Pending>()
  #writing: ReadonlyMap<string, Pending> = new Map()
  #round: Promise<void> | undefined
  #pause = new AbortController()
  #events = 0
  #uncounted = 0

  constructor(records: Pick<Records<object>, 'change'>, clock: Clock, log: Log) {
    this.#records = records
    this.#clock = clock
    this.#log = log
  }

  /** With `isTracked` false only the event is written and the statistics stay unchanged. */
  add(downloaded: NewEvent<'file.downloaded' | 'dataset.downloaded'>, isTracked = true): void {
    if (this.#events >= maxPending) {
      this.#uncounted += 1
      return
    }
    const { id } = downloaded.subject
    const pending = this.#pending.get(id) ?? { downloads: 0, lastDownloaded: '', events: [], stored: Promise.withResolvers<void>() }
    if (isTracked) {
      pending.downloads += 1
      pending.lastDownloaded = this.#clock.now().toISOString()
    }
    pending.events.push(downloaded)
    this.#pending.set(id, pending)
    this.#events += 1
    this.#round ??= this.#write()
  }

  /** Flushes and resolves when all downloads of the resource that were added so far are stored. */
  async counted(id: string): Promise<void> {
    const pending = this.#pending.get(id)
    if (pending) this.#pause.abort()
    await Promise.all([this.#writing.get(id)?.stored.promise, pending?.stored.promise])
  }

  /** Stores pending counts. */
  async dispose(): Promise<void> {
    this.#pause.abort()
    await this.#round
  }

  async #write(): Promise<void> {
    while (this.#pending.size > 0) {
      const [writing, events, uncounted] = [this.#pending, this.#events, this.#uncounted]
      this.#writing = writing
      this.#pause = new AbortController()
      this.#pending = new Map()
      this.#events = 0
      this.#uncounted = 0
      if (uncounted > 0) this.#log.warn('Too many downloads at once to count them all', { uncounted })
      const all = [...writing]
      for (let at = 0; at < all.length; at += maxConcurrent)
        await Promise.all(all.slice(at, at + maxConcurrent).map(([id, some]) => this.#change(id, some)))
      if (events > maxCalmEvents) await pause(pauseMs, this.#pause.signal)
    }
    this.#writing = new Map()
    this.#round = undefined
  }

  async #change(id: string, { downloads, lastDownloaded, events, stored }: Pending): Promise<void> {
    const counted = { inc: { 'statistics.downloads': downloads }, set: { 'statistics.lastDownloaded': lastDownloaded } }
    try {
      await this.#records.change(id, downloads > 0 ? counted : {}, events)
    } catch (error) {
      this.#log.warn('Failed to count downloads', { id, downloads: events.length, error })
    } finally {
      stored.resolve()
    }
  }
}
