import type { NewEvent } from './events.ts'
import type { Clock, Log } from './ports/kernel.ts'
import type { Records } from './ports/records.ts'
import { pause } from './time-limit.ts'

interface Pending {
  downloads: number
  lastDownloaded: string
  readonly events: NewEvent[]
}

const changesAtOnce = 64
/** Up to so many downloads are counted as they come, so that someone who looks at the count next sees it. */
const few = 4
const pauseMs = 250
const mostPending = 10_000

/**
 * Counts downloads in the statistics of what was downloaded. Nobody waits for a count, and one that is lost in a crash is no loss of data. Under load
 * those of a quarter of a second are one change of each resource, with one event for each download.
 */
export class DownloadCounts {
  readonly #records: Pick<Records<object>, 'change'>
  readonly #clock: Clock
  readonly #log: Log
  readonly #ending = new AbortController()
  #pending = new Map<string, Pending>()
  #events = 0
  #uncounted = 0
  #writing: Promise<void> | undefined

  constructor(records: Pick<Records<object>, 'change'>, clock: Clock, log: Log) {
    this.#records = records
    this.#clock = clock
    this.#log = log
  }

  /** `isTracked` false: the event alone, without a change of the statistics. */
  add(downloaded: NewEvent<'file.downloaded' | 'dataset.downloaded'>, isTracked = true): void {
    if (this.#events >= mostPending) {
      this.#uncounted += 1
      return
    }
    const { id } = downloaded.subject
    const pending = this.#pending.get(id) ?? { downloads: 0, lastDownloaded: '', events: [] }
    if (isTracked) {
      pending.downloads += 1
      pending.lastDownloaded = this.#clock.now().toISOString()
    }
    pending.events.push(downloaded)
    this.#pending.set(id, pending)
    this.#events += 1
    this.#writing ??= this.#write()
  }

  /** Writes what is pending. */
  async dispose(): Promise<void> {
    this.#ending.abort()
    await this.#writing
  }

  async #write(): Promise<void> {
    while (this.#pending.size > 0) {
      const [pending, events, uncounted] = [[...this.#pending], this.#events, this.#uncounted]
      this.#pending = new Map()
      this.#events = 0
      this.#uncounted = 0
      if (uncounted > 0) this.#log.warn('too many downloads at once to count them all', { uncounted })
      for (let at = 0; at < pending.length; at += changesAtOnce)
        await Promise.all(pending.slice(at, at + changesAtOnce).map(([id, some]) => this.#change(id, some)))
      if (events > few) await pause(pauseMs, this.#ending.signal)
    }
    this.#writing = undefined
  }

  async #change(id: string, { downloads, lastDownloaded, events }: Pending): Promise<void> {
    const counted = { inc: { 'statistics.downloads': downloads }, set: { 'statistics.lastDownloaded': lastDownloaded } }
    try {
      await this.#records.change(id, downloads > 0 ? counted : {}, events)
    } catch (error) {
      this.#log.warn('failed to count downloads', { id, downloads: events.length, error })
    }
  }
}
