import {
  type AnyEvent,
  and,
  type BatchHandler,
  Clock,
  CommitConflict,
  type Contributions,
  collection,
  configPort,
  DocumentStore,
  type PublicEvent,
  PublicEventHandlers,
  range,
  type Time,
  wire,
} from 'pounce/sdk'
import { type PublicEventHandler, personalRecords, removeFound } from 'pounce/sdk/kit'
import { config, type Settings } from './config.ts'
import { rightsEvents } from './event-types.ts'
import { StoredPublicEvents } from './stored-public-events.ts'

/** A batch of events, in the order in which they are sent. */
export interface Segment {
  /** From 1, without gaps: a segment is added only after the previous one exists, so a reader that has seen one has seen all before it. */
  readonly sequence: number
  readonly at: Time
  readonly events: readonly PublicEvent[]
  /** Total number of events since the installation was created, including this segment. */
  readonly total: number
  /** Rights of callers may have changed, or credentials may have ended. */
  readonly changesRights: boolean
}

/** A stored segment. The events are JSON text: the store need not parse them. */
interface StoredSegment extends Omit<Segment, 'events'> {
  readonly events: string
}

const eventsOf = ({ events }: StoredSegment): readonly PublicEvent[] => JSON.parse(events) as readonly PublicEvent[]

/** The log of public events. The id is the sequence number, so that each segment has one writer. */
export const liveLog = collection<StoredSegment>()('live.log', {
  bySequence: { on: ['sequence'] },
  byAt: { on: ['at'] },
  byTotal: { on: ['total'] },
})

/** A user's events in the log, while they are retained. They are deleted with the account; other events of a segment are kept. */
export const PersonalEvents = personalRecords({
  name: 'live-events',
  summary: 'Recent events that you caused or that were addressed to you only.',
  in: liveLog,
  isOf: ({ events }, { id }) => events.includes(id),
  show: (segment, { id }) => ({
    at: segment.at,
    types: eventsOf(segment)
      .filter(({ actor, recipient }) => actor === id || recipient === id)
      .map(({ event }) => event.type),
  }),
  erase: (segment, { person }) => ({
    set: { events: JSON.stringify(eventsOf(segment).filter(event => !JSON.stringify(event).includes(person.id))) },
  }),
})

/** A position in the log: after a whole segment, or after one of its events. */
export interface Position {
  readonly sequence: number
  /** Number of events of the segment that are before the position; absent: all of them. */
  readonly events?: number
}

/** `17` or `17.3`. */
export const printPosition = ({ sequence, events }: Position): string => (events === undefined ? `${sequence}` : `${sequence}.${events}`)

export const parsePosition = (text: string): Position | undefined => {
  const [, sequence, events] = /^(\d{1,15})(?:\.(\d{1,6}))?$/.exec(text) ?? []
  if (sequence === undefined) return undefined
  return { sequence: Number(sequence), ...(events !== undefined && { events: Number(events) }) }
}

const idOf = (sequence: number): string => String(sequence).padStart(15, '0')

/** The activity that an event reports on, such as `extraction 6741…`. */
export const activityOf = ({ event, subject }: PublicEvent): string => `${event.type.split('.')[0]} ${subject.id}`

const maxSegments = 50
export const maxEventsPerSegment = 200

/** Appends public events to the log, and reads it. */
export class EventLog {
  readonly #settings: Settings
  readonly #documents: DocumentStore
  readonly #clock: Clock
  readonly #listeners = new Set<(segment: Segment) => void>()
  readonly #endListeners = new Set<(activity: string) => void>()
  #last: Pick<Segment, 'sequence' | 'total'> = { sequence: 0, total: 0 }
  #isCurrent = false
  #appending: Promise<unknown> = Promise.resolve()

  constructor(settings: Settings, documents: DocumentStore, clock: Clock) {
    this.#settings = settings
    this.#documents = documents
    this.#clock = clock
  }

  /**
   * The events are durable when this resolves. Batches of this kernel are appended one at a time. `isDue` is called right before an event
   * is written.
   */
  append(events: readonly PublicEvent[], changesRights: boolean, isDue: (event: PublicEvent) => boolean = () => true): Promise<void> {
    if (events.length === 0 && !changesRights) return Promise.resolve()
    const appended = this.#appending.then(async () => {
      for (let at = 0; at === 0 || at < events.length; at += maxEventsPerSegment)
        await this.#add(events.slice(at, at + maxEventsPerSegment), changesRights, isDue)
    })
    this.#appending = appended.catch(() => undefined)
    return appended
  }

  /** Called with each segment that this kernel appends. Returns the unsubscribe function. */
  onAppended(listener: (segment: Segment) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Called with each activity (`activityOf`) whose end is in the log, before anything is written after it. Returns the unsubscribe
   * function.
   */
  onEnded(listener: (activity: string) => void): () => void {
    this.#endListeners.add(listener)
    return () => this.#endListeners.delete(listener)
  }

  /** The newest segment; zeros when there is none. */
  async last(): Promise<Pick<Segment, 'sequence' | 'total'>> {
    return (await this.#end('descending')) ?? { sequence: 0, total: 0 }
  }

  /** The number of the oldest retained segment; undefined when there is none. */
  async oldest(): Promise<number | undefined> {
    return (await this.#end('ascending'))?.sequence
  }

  /** Some of the segments after the given one, oldest first. */
  async after(sequence: number): Promise<readonly Segment[]> {
    const where = range('sequence', { gt: sequence })
    const sort = { by: 'sequence', order: 'ascending' } as const
    const { items } = await this.#documents.find(liveLog, { using: 'bySequence', where, sort, limit: maxSegments })
    return items.map(segment => ({ ...segment, events: eventsOf(segment) }))
  }

  /** The position right before the first segment written at or after a time; undefined if segments since then may have been deleted. */
  async positionAt(time: string): Promise<Position | undefined> {
    const where = range('at', { gte: time })
    const { items } = await this.#documents.find(liveLog, { using: 'byAt', where, sort: { by: 'at', order: 'ascending' }, limit: 1 })
    const [first] = items
    if (!first) return { sequence: (await this.last()).sequence }
    const oldest = await this.#end('ascending')
    if (first.sequence === oldest?.sequence && (await this.#followsDeleted(first, time))) return undefined
    return { sequence: first.sequence - 1 }
  }

  /** Whether `LogRetention` may have deleted a segment that was written between a time and the oldest segment. */
  async #followsDeleted(oldest: StoredSegment, time: string): Promise<boolean> {
    if (oldest.sequence === 1) return false
    if (time < oldestTime(this.#settings, this.#clock)) return true
    const before = oldest.total - eventsOf(oldest).length
    return before > 0 && before <= (await this.last()).total - this.#settings.maxEvents
  }

  async #end(order: 'ascending' | 'descending'): Promise<StoredSegment | undefined> {
    return (await this.#documents.find(liveLog, { using: 'bySequence', sort: { by: 'sequence', order }, limit: 1 })).items[0]
  }

  async #add(batch: readonly PublicEvent[], changesRights: boolean, isDue: (event: PublicEvent) => boolean): Promise<void> {
    for (;;) {
      if (!this.#isCurrent) await this.#catchUp()
      const events = batch.filter(isDue)
      if (events.length === 0 && !changesRights) return
      const sequence = this.#last.sequence + 1
      const total = this.#last.total + events.length
      const segment: Segment = { sequence, at: this.#clock.now().toISOString(), events, total, changesRights }
      try {
        const text = JSON.stringify(events)
        await this.#documents.commit({ insert: { id: idOf(sequence), ...segment, events: text }, into: liveLog })
      } catch (error) {
        // Unless another kernel was first, it is unknown whether the segment was written.
        this.#isCurrent = false
        if (error instanceof CommitConflict) continue
        throw error
      }
      this.#last = segment
      this.#reportEnds(events)
      for (const listener of this.#listeners) listener(segment)
      return
    }
  }

  /** Reads the segments of other kernels. Their newest are enough: a report waits for at most a quarter of a second. */
  async #catchUp(): Promise<void> {
    const where = range('sequence', { gt: this.#last.sequence })
    const sort = { by: 'sequence', order: 'descending' } as const
    const { items } = await this.#documents.find(liveLog, { using: 'bySequence', where, sort, limit: maxSegments })
    this.#last = items[0] ?? this.#last
    this.#isCurrent = true
    for (const segment of items) this.#reportEnds(eventsOf(segment))
  }

  #reportEnds(events: readonly PublicEvent[]): void {
    for (const one of events)
      if (/\.(finished|failed)$/.test(one.event.type)) for (const listener of this.#endListeners) listener(activityOf(one))
  }
}
wire(EventLog, configPort(config), DocumentStore, Clock)

/**
 * Appends events to the log, and passes them to the handlers of public events, so that each is rendered once. A repeated batch appends the
 * same events with the same ids.
 */
export class LogEvents implements BatchHandler {
  readonly #log: EventLog
  readonly #events: StoredPublicEvents
  readonly #handlers: Contributions<PublicEventHandler>

  constructor(log: EventLog, events: StoredPublicEvents, handlers: Contributions<PublicEventHandler>) {
    this.#log = log
    this.#events = events
    this.#handlers = handlers
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    const changesRights = events.some(({ type }) => rightsEvents.includes(type))
    const described = await this.#events.describe(events)
    const handlers = described.length > 0 ? this.#handlers.all() : []
    // Run concurrently, so that their writes share a commit. All must have ended before a batch is repeated.
    const outcomes = await Promise.allSettled([
      this.#log.append(described, changesRights),
      ...handlers.map(async handler => handler.handle(described)),
    ])
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  }
}
wire(LogEvents, EventLog, StoredPublicEvents, PublicEventHandlers)

const hourMs = 3_600_000

/** Segments written before this time are deleted. */
const oldestTime = ({ maxAgeHours }: Settings, clock: Clock): Time => new Date(clock.now().getTime() - maxAgeHours * hourMs).toISOString()

/** Deletes segments that are too old or too many. The newest is kept, because the next one's number follows it. */
export class LogRetention {
  readonly #settings: Settings
  readonly #documents: DocumentStore
  readonly #log: EventLog
  readonly #clock: Clock

  constructor(settings: Settings, documents: DocumentStore, log: EventLog, clock: Clock) {
    this.#settings = settings
    this.#documents = documents
    this.#log = log
    this.#clock = clock
  }

  async run(signal: AbortSignal): Promise<void> {
    const { sequence, total } = await this.#log.last()
    const isOld = range('at', { lt: oldestTime(this.#settings, this.#clock) })
    const isNotNewest = range('sequence', { lt: sequence })
    await removeFound(this.#documents, liveLog, { using: 'byAt', where: and(isOld, isNotNewest), signal })
    const isBeyond = range('total', { lte: total - this.#settings.maxEvents })
    await removeFound(this.#documents, liveLog, { using: 'byTotal', where: and(isBeyond, isNotNewest), signal })
  }
}
wire(LogRetention, configPort(config), DocumentStore, EventLog, Clock)
