import { setTimeout as pause } from 'node:timers/promises'
import { Broadcasters, type Contributions, configPort, Log, wire } from 'pounce/sdk'
import type { Broadcaster } from 'pounce/sdk/kit'
import { config, type Settings } from './config.ts'
import { EventLog, type Segment } from './event-log.ts'

/** With a broker, interval of polling for lost announcements. */
const announcedPollMs = 2000
const maxOutagePauseMs = 2000
/** Maximum number of this kernel's segments that are queued for sending; others are read from the log. */
const maxQueued = 100
const topic = 'live'

/** What a follower passes new segments to. */
export interface SegmentReceiver {
  /** When it becomes false, the follower stops after the next `wake`. */
  readonly isReceiving: boolean
  /** Called again with the same segment after a failure. */
  receive(segment: Segment): Promise<void>
}

/** The pause before an attempt that follows `failures` failed ones, in milliseconds. */
export const outagePauseMs = (failures: number): number => Math.min(maxOutagePauseMs, 100 * 2 ** failures)

/** Follows the log while a receiver wants it: this kernel's segments as they are appended, those of other kernels by announcements and polling. */
export class LogFollower {
  readonly #settings: Settings
  readonly #log: EventLog
  readonly #broadcasters: Contributions<Broadcaster>
  readonly #own: Log
  readonly #queued = new Map<number, Segment>()
  readonly #stopped = new AbortController()
  readonly #waiting = new Set<() => void>()
  #stopListening: (() => void)[] = []
  #position = 0
  /** The log may have segments that are not queued here. */
  #hasUnread = true
  #readMs = 0
  #running: Promise<void> | undefined
  #isWoken = false

  constructor(settings: Settings, log: EventLog, broadcasters: Contributions<Broadcaster>, own: Log) {
    this.#settings = settings
    this.#log = log
    this.#broadcasters = broadcasters
    this.#own = own
  }

  start(): void {
    const broadcasters = this.#broadcasters.all()
    const announce = (sequence: number) =>
      broadcasters.map(one =>
        one
          .send(topic, String(sequence))
          .catch((error: unknown) => this.#own.debug('Failed to announce events to other servers', { error })),
      )
    this.#stopListening = [
      this.#log.onAppended(segment => {
        if (this.#running && this.#queued.size < maxQueued) this.#queued.set(segment.sequence, segment)
        else this.#hasUnread = true
        this.wake()
        announce(segment.sequence)
      }),
      ...broadcasters.map(one =>
        one.listen(topic, () => {
          this.#hasUnread = true
          this.wake()
        }),
      ),
    ]
  }

  async dispose(): Promise<void> {
    this.#stopped.abort()
    for (const stop of this.#stopListening) stop()
    this.wake()
    await this.#running
  }

  /** The newest segment that the receiver was given, or is being given. */
  get position(): number {
    return this.#position
  }

  /** Starts at the end of the log, unless it is running. */
  async follow(receiver: SegmentReceiver): Promise<void> {
    if (this.#running) return
    const { sequence } = await this.#log.last()
    if (this.#running) return
    this.#position = sequence
    this.#running = this.#run(receiver)
  }

  /** Ends a pause between two reads. */
  wake(): void {
    this.#isWoken = true
    for (const wake of this.#waiting) wake()
  }

  /** Ends early when the server stops. */
  async delay(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: this.#stopped.signal, ref: false }).catch(() => undefined)
  }

  async #run(receiver: SegmentReceiver): Promise<void> {
    for (let failures = 0; receiver.isReceiving && !this.#stopped.signal.aborted; ) {
      this.#isWoken = false
      try {
        const segments = await this.#next()
        for (const segment of segments) await this.#pass(segment, receiver)
        failures = 0
        if (segments.length === 0) await this.#pause(this.#pollDueMs())
      } catch (error) {
        this.#hasUnread = true
        if (failures === 0) this.#own.warn('Event log unavailable; streams will continue from their position', { error })
        failures += 1
        await this.delay(outagePauseMs(failures))
      }
    }
    // Synchronous with the last check of the receiver, so that a stream that opens now starts a new loop.
    this.#running = undefined
    this.#queued.clear()
  }

  async #pass(segment: Segment, receiver: SegmentReceiver): Promise<void> {
    this.#position = segment.sequence
    try {
      await receiver.receive(segment)
    } catch (error) {
      this.#position = segment.sequence - 1
      throw error
    }
  }

  async #next(): Promise<readonly Segment[]> {
    const queued = this.#queued.get(this.#position + 1)
    for (const sequence of this.#queued.keys()) if (sequence <= this.#position + 1) this.#queued.delete(sequence)
    if (queued) {
      // Appending it found that no other server's segments precede it, as a read would have.
      this.#readMs = performance.now()
      return [queued]
    }
    // This kernel's own segments are queued: only those of others, and those beyond the queue's limit, are read.
    if (this.#queued.size === 0 && !this.#hasUnread && this.#pollDueMs() > 0) return []
    this.#hasUnread = false
    this.#readMs = performance.now()
    const segments = await this.#log.after(this.#position)
    // There may be more than one page.
    if (segments.length > 0) this.#hasUnread = true
    return segments
  }

  /** Milliseconds until the log is polled for segments of other kernels. */
  #pollDueMs(): number {
    const pollMs = this.#broadcasters.all().length > 0 ? announcedPollMs : this.#settings.pollMs
    return Math.max(0, this.#readMs + pollMs - performance.now())
  }

  /** Ends early when it is woken. */
  #pause(ms: number): Promise<void> {
    if (this.#isWoken || this.#stopped.signal.aborted) return Promise.resolve()
    return new Promise(resolve => {
      const wake = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, ms)
      this.#waiting.add(wake)
    })
  }
}
wire(LogFollower, configPort(config), EventLog, Broadcasters, Log)
