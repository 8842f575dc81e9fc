import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  anonymous,
  type Caller,
  Clock,
  CredentialRefs,
  configPort,
  type EventFilter,
  Ids,
  Installation,
  Log,
  type PublicEvent,
  TooMany,
  Unavailable,
  wire,
} from 'pounce/sdk'
import { type CredentialRef, networkOf, Semaphore } from 'pounce/sdk/kit'
import { config, type Settings } from './config.ts'
import { EventLog, type Position, printPosition, type Segment } from './event-log.ts'
import { type CloseReason, LiveStream, type LiveStreamOwner } from './live-stream.ts'
import { LogFollower, outagePauseMs, type SegmentReceiver } from './log-follower.ts'
import { cloudEvent, StoredPublicEvents } from './stored-public-events.ts'

/** How long the rights of a caller are cached when no event indicates a change. */
const callerMs = 1000
/** Maximum number of callers whose rights are read concurrently. */
const maxConcurrent = 32
/** Maximum number of replays that send a segment at the same time. */
const maxReplays = 4
/** Number of events that replays send per turn of the event loop, so that they do not block requests. */
const replayedPerTurn = 25

/** Streams with the same filter, which receive the same bytes. */
interface Channel {
  readonly filter: EventFilter
  readonly streams: Set<LiveStream>
}

/** The streams of one credential. */
interface Group {
  readonly credential: CredentialRef | undefined
  readonly channels: Map<string, Channel>
  /** Open streams, including those that have not joined a channel yet. */
  size: number
  /** Undefined once the credential has ended. */
  caller: Caller | undefined
  readMs: number
}

/** The caller and parameters of a stream. */
export interface StreamRequest {
  readonly caller: Caller
  readonly address: string
  readonly filter: EventFilter
  readonly from?: Position
}

const text = (lines: string): Buffer => Buffer.from(lines)

/** Sends the events of the log to the streams of this kernel, each filtered by the current rights of its caller. */
export class StreamHub implements LiveStreamOwner, SegmentReceiver {
  readonly maxPendingBytes: number
  readonly #settings: Settings
  readonly #log: EventLog
  readonly #events: StoredPublicEvents
  readonly #credentials: CredentialRefs
  readonly #follower: LogFollower
  readonly #installation: Installation
  readonly #clock: Clock
  readonly #ids: Ids
  readonly #own: Log
  readonly #groups = new Map<string, Group>()
  readonly #open = new Map<LiveStream, string>()
  readonly #openByCaller = new Map<string, number>()
  readonly #replays = new Semaphore({ max: maxReplays })
  #replayedInTurn = 0
  #heartbeat: NodeJS.Timeout | undefined

  constructor(
    settings: Settings,
    log: EventLog,
    events: StoredPublicEvents,
    credentials: CredentialRefs,
    follower: LogFollower,
    installation: Installation,
    clock: Clock,
    ids: Ids,
    own: Log,
  ) {
    this.#settings = settings
    this.maxPendingBytes = settings.maxPendingBytes
    this.#log = log
    this.#events = events
    this.#credentials = credentials
    this.#follower = follower
    this.#installation = installation
    this.#clock = clock
    this.#ids = ids
    this.#own = own
  }

  start(): void {
    this.#heartbeat = setInterval(() => void this.#beat(), this.#settings.heartbeatSeconds * 1000).unref()
  }

  dispose(): void {
    clearInterval(this.#heartbeat)
    for (const stream of this.#open.keys()) stream.close('shutdown')
  }

  /**
   * A stream that sends nothing before it is opened. Throws `TooMany` beyond the limit of the caller, `Unavailable` beyond that of the
   * server.
   */
  async connect({ caller, address, filter, from }: StreamRequest): Promise<LiveStream> {
    const who = caller.user?.id ?? `${caller.via} ${networkOf(address)}`
    // Read first: there is no await between the check of the limits and the addition of the stream.
    const credential = caller.user ? await this.#credentials.of(caller) : undefined
    const count = this.#openByCaller.get(who) ?? 0
    if (count >= this.#settings.maxStreamsPerCaller)
      throw new TooMany(`At most ${this.#settings.maxStreamsPerCaller} streams may be open at the same time: close others first`, 10)
    if (this.#open.size >= this.#settings.maxStreams) throw new Unavailable('The server has as many open streams as it accepts')
    const key = credential ? JSON.stringify(credential) : caller.via
    const own = caller.via === 'nothing' ? anonymous : caller
    const group = this.#groups.get(key) ?? { credential, channels: new Map(), size: 0, caller: own, readMs: performance.now() }
    group.size += 1
    this.#groups.set(key, group)
    const stream = new LiveStream(this, key, filter, from)
    this.#open.set(stream, who)
    this.#openByCaller.set(who, count + 1)
    return stream
  }

  opened(stream: LiveStream): void {
    void this.#serve(stream)
  }

  left(stream: LiveStream): void {
    const who = this.#open.get(stream)
    if (who === undefined) return
    this.#open.delete(stream)
    const count = (this.#openByCaller.get(who) ?? 1) - 1
    if (count > 0) this.#openByCaller.set(who, count)
    else this.#openByCaller.delete(who)
    const group = this.#groups.get(stream.group)
    if (!group) return
    for (const [key, { streams }] of group.channels) {
      streams.delete(stream)
      if (streams.size === 0) group.channels.delete(key)
    }
    group.size -= 1
    if (group.size === 0) this.#groups.delete(stream.group)
    if (this.#open.size === 0) this.#follower.wake()
  }

  cut(stream: LiveStream): void {
    this.#own.info('Stream cut: the client reads too slowly', { user: this.#groups.get(stream.group)?.caller?.user?.id })
  }

  closing(reason: CloseReason): Buffer {
    return this.#note('stream.closed', { reason })
  }

  /** An event about the stream itself. It has no position, so that a client resumes after the event before it. */
  #note(type: string, data: Readonly<Record<string, unknown>>): Buffer {
    const time = this.#clock.now().toISOString()
    const note = cloudEvent(this.#installation.baseUrl, { id: this.#ids.next(), type, subject: 'live', time, data })
    return text(`data: ${JSON.stringify(note)}\n\n`)
  }

  async #serve(stream: LiveStream): Promise<void> {
    for (let failures = 0; stream.isOpen; failures += 1) {
      try {
        await this.#follower.follow(this)
        if (failures === 0) this.#greet(stream)
        return await this.#replay(stream)
      } catch (error) {
        if (failures === 0) this.#own.warn('Failed to replay the event log; it will be retried', { error })
        await this.#follower.delay(outagePauseMs(failures))
      }
    }
  }

  #greet(stream: LiveStream): void {
    const { from } = stream
    stream.sequence = from ? from.sequence - (from.events === undefined ? 0 : 1) : this.#follower.position
    const position = printPosition(from ?? { sequence: stream.sequence })
    stream.write(text(`retry: ${Math.round(this.#settings.retrySeconds * 1000)}\nid: ${position}\n: connected\n\n`))
  }

  /** Sends the logged events after the stream's position, then adds it to those that receive new events. */
  async #replay(stream: LiveStream): Promise<void> {
    if (stream.from && !(await this.#isKept(stream))) {
      const { sequence } = await this.#log.last()
      stream.write(this.#note('replay.incomplete', { position: String(sequence) }))
      stream.sequence = Math.min(sequence, this.#follower.position)
    }
    while (stream.isOpen) {
      // There is no await between this comparison and joining, so that no segment is sent in between.
      if (stream.sequence >= this.#follower.position) return this.#join(stream)
      const group = this.#groups.get(stream.group)
      const segments = await this.#log.after(stream.sequence)
      if (segments.length === 0) await this.#follower.delay(this.#settings.pollMs)
      for (const segment of segments) {
        if (!stream.isOpen || !group) return
        await this.#replays.use(() => this.#resend(segment, stream, group))
        await stream.drained()
      }
    }
  }

  async #resend(segment: Segment, stream: LiveStream, group: Group): Promise<void> {
    // Rights and events may all be in memory: without pauses a long replay would block all requests.
    if (this.#replayedInTurn >= replayedPerTurn) {
      await nextTurn()
      this.#replayedInTurn = 0
    }
    this.#replayedInTurn += segment.events.length
    const caller = await this.#callerOf(group)
    if (!caller) return stream.close('credential-ended')
    const some = this.#partOf(segment, stream)
    const wanted = some.filter(event => this.#events.matches(stream.filter, event, caller))
    stream.write(this.#textOf(segment, new Set(await this.#events.receivable(caller, wanted, stream.filter))))
    stream.sequence = segment.sequence
  }

  /** Whether the log still has all events after the position of a stream. */
  async #isKept({ from, sequence }: LiveStream): Promise<boolean> {
    if (!from) return true
    const [oldest, last] = [await this.#log.oldest(), await this.#log.last()]
    return from.sequence <= last.sequence && sequence + 1 >= (oldest ?? 1)
  }

  #partOf({ sequence, events }: Segment, { from }: LiveStream): readonly PublicEvent[] {
    return from?.events !== undefined && from.sequence === sequence ? events.slice(from.events) : events
  }

  #join(stream: LiveStream): void {
    const group = this.#groups.get(stream.group)
    if (!group || !stream.isOpen) return
    const key = JSON.stringify(stream.filter)
    const channel = group.channels.get(key) ?? { filter: stream.filter, streams: new Set() }
    group.channels.set(key, channel)
    channel.streams.add(stream)
  }

  /** Whether streams are open. */
  get isReceiving(): boolean {
    return this.#open.size > 0
  }

  /**
   * Sends a segment to all streams that may receive part of it. Called again after a failure: streams that have received it are skipped.
   */
  async receive(segment: Segment): Promise<void> {
    if (segment.changesRights) for (const group of this.#groups.values()) group.readMs = Number.NEGATIVE_INFINITY
    const texts = new Map<string, Buffer>()
    const groups = [...this.#groups.values()]
    for (let at = 0; at < groups.length; at += maxConcurrent)
      await Promise.all(groups.slice(at, at + maxConcurrent).map(group => this.#sendTo(group, segment, texts)))
  }

  async #sendTo(group: Group, segment: Segment, texts: Map<string, Buffer>): Promise<void> {
    const caller = await this.#callerOf(group)
    if (!caller) return this.#end(group)
    const channels = [...group.channels.values()].map(({ filter, streams }) => ({
      filter,
      streams,
      events: segment.events.filter(event => this.#events.matches(filter, event, caller)),
    }))
    const wanted = segment.events.filter(event => channels.some(({ events }) => events.includes(event)))
    const receivable = new Set(await this.#events.receivable(caller, wanted))
    for (const { filter, streams, events } of channels) {
      const some = events.filter(event => receivable.has(event))
      // A filter by resource must not reveal resources that the caller may not view.
      const found = filter.ids || filter.spaces ? await this.#events.receivable(caller, some, filter) : some
      const bytes = this.#textOf(segment, new Set(found), texts)
      for (const stream of streams) {
        if (stream.sequence >= segment.sequence) continue
        stream.sequence = segment.sequence
        if (bytes.length > 0) stream.write(bytes)
      }
    }
  }

  /** Some events of a segment in SSE format, rendered once for all streams that receive the same ones. */
  #textOf({ sequence, events }: Segment, some: ReadonlySet<PublicEvent>, known?: Map<string, Buffer>): Buffer {
    const chosen = events.flatMap((event, at) => (some.has(event) ? [at] : []))
    const key = chosen.join()
    const made =
      known?.get(key) ??
      text(chosen.map(at => `id: ${printPosition({ sequence, events: at + 1 })}\ndata: ${JSON.stringify(events[at]?.event)}\n\n`).join(''))
    known?.set(key, made)
    return made
  }

  /** The current rights of a credential; undefined once it has ended. */
  async #callerOf(group: Group): Promise<Caller | undefined> {
    if (!group.credential || performance.now() - group.readMs < callerMs) return group.caller
    const readMs = performance.now()
    group.caller = await this.#credentials.callerOf(group.credential)
    group.readMs = readMs
    return group.caller
  }

  #end({ channels }: Group): void {
    for (const { streams } of channels.values()) for (const stream of [...streams]) stream.close('credential-ended')
  }

  /** Keeps connections open, advances the position of their clients, and ends streams whose credential has ended. */
  async #beat(): Promise<void> {
    for (const group of this.#groups.values()) {
      try {
        if (!(await this.#callerOf(group))) this.#end(group)
      } catch (error) {
        this.#own.debug('Failed to check the credential of a stream', { error })
      }
      for (const { streams } of group.channels.values())
        for (const stream of streams) stream.write(text(`: heartbeat\nid: ${stream.sequence}\n\n`))
    }
  }
}
wire(StreamHub, configPort(config), EventLog, StoredPublicEvents, CredentialRefs, LogFollower, Installation, Clock, Ids, Log)
