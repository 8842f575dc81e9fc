import { Clock, type Contributions, Ids, Log, type Progress, type PublicEvent, PublicEventHandlers, wire } from 'pounce/sdk'
import type { ProgressListener, PublicEventHandler } from 'pounce/sdk/kit'
import { activityOf, EventLog, maxEventsPerSegment } from './event-log.ts'
import { StoredPublicEvents } from './stored-public-events.ts'

const flushMs = 250
/** Maximum number of concurrent activities; further ones are not reported. */
const maxActivities = 1000

/** The newest state of an activity, and the id of its event. */
interface Report {
  readonly progress: Progress
  readonly eventId: string
}

/**
 * Writes progress to the log: the latest report of each activity four times a second, and its final one, which is also passed to the
 * handlers of public events. Reports still pending when the end of their activity is logged, by any kernel, are dropped.
 */
export class LogProgress implements ProgressListener {
  readonly #log: EventLog
  readonly #events: StoredPublicEvents
  readonly #handlers: Contributions<PublicEventHandler>
  readonly #clock: Clock
  readonly #ids: Ids
  readonly #own: Log
  readonly #waiting = new Map<string, Report>()
  readonly #writing = new Set<string>()
  #stopListening: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> | undefined

  constructor(log: EventLog, events: StoredPublicEvents, handlers: Contributions<PublicEventHandler>, clock: Clock, ids: Ids, own: Log) {
    this.#log = log
    this.#events = events
    this.#handlers = handlers
    this.#clock = clock
    this.#ids = ids
    this.#own = own
  }

  start(): void {
    this.#stopListening = this.#log.onEnded(activity => {
      this.#waiting.delete(activity)
      this.#writing.delete(activity)
    })
  }

  report(progress: Progress): void {
    const key = `${progress.activity} ${progress.id}`
    if (!this.#waiting.has(key) && this.#waiting.size >= maxActivities) return
    this.#waiting.set(key, { progress, eventId: this.#ids.next() })
    this.#schedule()
  }

  async dispose(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#flushing
    await this.#flush()
    clearTimeout(this.#timer)
    this.#stopListening?.()
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.#flush(), flushMs).unref()
  }

  /** Only the ends of activities are retried: the next report supersedes any other. */
  #flush(): Promise<void> {
    const reports = new Map(this.#waiting)
    for (const activity of reports.keys()) this.#writing.add(activity)
    this.#waiting.clear()
    this.#flushing = this.#write([...reports.values()])
      .catch((error: unknown) => {
        this.#own.debug('Failed to log progress', { reports: reports.size, error })
        for (const [activity, report] of reports)
          if (report.progress.state !== 'running' && !this.#waiting.has(activity)) this.#waiting.set(activity, report)
      })
      .finally(() => {
        this.#writing.clear()
        this.#timer = undefined
        if (this.#waiting.size > 0) this.#schedule()
      })
    return this.#flushing
  }

  async #write(reports: readonly Report[]): Promise<void> {
    const at = this.#clock.now().toISOString()
    const events = await Promise.all(reports.map(report => this.#eventOf(report, at)))
    const ends = events.filter(({ event: { type } }) => !type.endsWith('.progressed'))
    for (let from = 0; from < ends.length; from += maxEventsPerSegment)
      for (const handler of this.#handlers.all()) await handler.handle(ends.slice(from, from + maxEventsPerSegment))
    await this.#log.append(events, false, event => this.#writing.has(activityOf(event)))
  }

  #eventOf({ progress, eventId }: Report, at: string): Promise<PublicEvent> {
    const { activity, id, subject, actor, state, done, total, unit, message } = progress
    return this.#events.present(
      {
        type: `${activity}.${state === 'running' ? 'progressed' : state}`,
        subject: { kind: 'job', id },
        ...(subject ? { within: [subject] } : { recipient: actor ?? '' }),
        data: {
          ...(subject && { target: subject }),
          ...(done !== undefined && { done }),
          ...(total !== undefined && { total }),
          ...(unit !== undefined && { unit }),
          ...(message !== undefined && { message: message.slice(0, 200).toWellFormed() }),
        },
      },
      { id: eventId, at, actor },
    )
  }
}
wire(LogProgress, EventLog, StoredPublicEvents, PublicEventHandlers, Clock, Ids, Log)
