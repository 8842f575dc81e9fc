import {
  type Caller,
  Clock,
  CommitConflict,
  type Datapoint,
  eq,
  event,
  GeoStore,
  type Log,
  NotFound,
  type StreamRecord,
  Streams,
  streamIdOf,
  wire,
} from 'pounce/sdk'
import { GeostreamIds } from '../geostream-ids.ts'
import { abandon } from './abandoned-datapoints.ts'
import { AddingRights, type MayAdd } from './adding-rights.ts'
import { DatapointImportReport } from './datapoint-import-report.ts'
import { type Draft, type Refused, refusalOf } from './read-point.ts'
import { StreamTotals } from './stream-totals.ts'

const batchSize = 1000
/** A stream hears of what it had at the end, and at the latest after so many points. */
const tellEvery = 10_000
/** Streams whose records are changed at once. */
const toldAtOnce = 100
const maxNames = 1000
const gone: Refused = { field: 'stream_id', message: 'Stream not found' }

interface Placed {
  readonly line: number
  readonly draft: Draft
}

/** Takes readings in. */
export class DatapointImport {
  readonly geo: GeoStore
  readonly numbers: GeostreamIds
  readonly streams: Streams
  readonly rights: AddingRights
  readonly clock: Clock

  constructor(geo: GeoStore, numbers: GeostreamIds, streams: Streams, rights: AddingRights, clock: Clock) {
    this.geo = geo
    this.numbers = numbers
    this.streams = streams
    this.rights = rights
    this.clock = clock
  }

  begin(caller: Caller, log: Log): DatapointImportRun {
    return new DatapointImportRun(this, caller, log)
  }
}
wire(DatapointImport, GeoStore, GeostreamIds, Streams, AddingRights, Clock)

/**
 * The readings of one request, in batches: while one is being stored the next one comes together. Rights are asked once for each stream. What is refused
 * leaves the others as they are.
 */
export class DatapointImportRun {
  readonly report = new DatapointImportReport()
  /** Of the last point that was stored. */
  lastId: number | undefined
  readonly #of: DatapointImport
  readonly #caller: Caller
  readonly #log: Log
  readonly #may = new Map<number, MayAdd>()
  #tallies = new Map<number, StreamTotals>()
  #untold = 0
  #batch: Placed[] = []
  #storing: Promise<{ readonly error: unknown } | undefined> = Promise.resolve(undefined)

  constructor(of: DatapointImport, caller: Caller, log: Log) {
    this.#of = of
    this.#caller = caller
    this.#log = log
  }

  /** Nothing while there is room for more; else wait for what it returns, which rejects when an earlier batch could not be stored. */
  add(line: number, draft: Draft): Promise<void> | undefined {
    this.#batch.push({ line, draft })
    return this.#batch.length >= batchSize ? this.#next() : undefined
  }

  refuse(line: number, refused: Refused): void {
    this.report.refuse(line, refused)
  }

  /** Resolves when everything is durable and the streams know of it. After a fault they know of what was stored before it. */
  async finish(): Promise<DatapointImportReport> {
    try {
      await this.#next()
      await this.#stored()
    } catch (error) {
      await this.#tell().catch((cause: unknown) => this.#log.error('failed to update streams with their datapoints', { error: cause }))
      throw error
    }
    await this.#tell()
    return this.report
  }

  /** The same after a fault of what brings the points, which is what is to be told. */
  async abandon(): Promise<void> {
    await this.finish().catch((error: unknown) => this.#log.error('not all received datapoints were stored', { error }))
  }

  async #next(): Promise<void> {
    const batch = this.#batch
    await this.#stored()
    if (this.#untold >= tellEvery) await this.#tell()
    if (batch.length === 0) return
    this.#batch = []
    this.#storing = this.#store(batch).then(
      () => undefined,
      (error: unknown) => ({ error }),
    )
  }

  async #stored(): Promise<void> {
    const failed = await this.#storing
    if (failed) throw failed.error
  }

  async #store(batch: readonly Placed[]): Promise<void> {
    const allowed = await this.#allowed(batch)
    if (allowed.length === 0) return
    const ids = await this.#of.numbers.take('datapoint', allowed.length)
    // Clowder 1.x tells whole seconds of when a reading came.
    const createdMs = Math.floor(this.#of.clock.now().getTime() / 1000) * 1000
    const points = allowed.map(({ draft }, at): Datapoint => ({ id: ids[at] ?? 0, createdMs, ...draft }))
    const outcomes = await this.#insert(points)
    for (const [at, { line, draft }] of allowed.entries()) {
      const outcome = outcomes[at]
      if (outcome?.status === 'refused') this.refuse(line, refusalOf(outcome.reason))
      else this.#count(draft, line)
    }
    this.lastId = ids.at(-1)
  }

  /** Nobody knows the numbers of a batch that failed, so none of it is to stay. */
  async #insert(points: readonly Datapoint[]) {
    try {
      return await this.#of.geo.insert(points)
    } catch (error) {
      const ids = points.map(({ id }) => id)
      await this.#of.geo
        .remove({ ids })
        .catch(() => abandon(this.#of.streams, points, this.#of.clock.now().toISOString(), this.#caller.user?.id))
        .catch((cause: unknown) => this.#log.error('some of these datapoints may be stored', { ids, error: cause }))
      throw error
    }
  }

  async #allowed(batch: readonly Placed[]): Promise<readonly Placed[]> {
    const unknown = [...new Set(batch.map(({ draft }) => draft.stream))].filter(number => !this.#may.has(number))
    if (unknown.length > 0) for (const [number, may] of await this.#of.rights.of(this.#caller, unknown)) this.#may.set(number, may)
    return batch.filter(({ line, draft }) => {
      const may = this.#may.get(draft.stream)
      if (may && 'stream' in may) return true
      this.refuse(line, { field: 'stream_id', message: may ? may.problem.message : gone.message })
      return false
    })
  }

  #count(draft: Draft, line: number): void {
    let tally = this.#tallies.get(draft.stream)
    if (!tally) {
      tally = new StreamTotals()
      this.#tallies.set(draft.stream, tally)
    }
    tally.add(draft, line)
    this.report.inserted += 1
    this.#untold += 1
  }

  async #tell(): Promise<void> {
    const tallies = [...this.#tallies]
    this.#tallies = new Map()
    this.#untold = 0
    for (let at = 0; at < tallies.length; at += toldAtOnce)
      await Promise.all(tallies.slice(at, at + toldAtOnce).map(([number, tally]) => this.#tellStream(number, tally)))
  }

  async #tellStream(number: number, tally: StreamTotals): Promise<void> {
    const may = this.#may.get(number)
    if (!may || !('stream' in may)) return
    const { count, fromMs, toMs } = tally
    const subject = { kind: 'stream', id: streamIdOf(number) } as const
    const actor = this.#caller.user?.id
    const names = newNames(may.stream, tally)
    const happened = [
      event('stream.datapoints-added', subject, { count, fromMs, toMs }, actor),
      ...(names.length > 0 ? [event('stream.updated', subject, { fields: ['parameters'] }, actor)] : []),
    ]
    try {
      const set = { changed: this.#of.clock.now().toISOString() }
      const update = { set, ...(names.length > 0 ? { addToSet: { parameters: names } } : {}) }
      const stream = await this.#of.streams.change(subject.id, { ...update, where: eq('state', 'live') }, happened)
      this.#may.set(number, { stream })
    } catch (error) {
      if (!(error instanceof NotFound || error instanceof CommitConflict)) throw error
      await this.#takeBack(number, tally)
    }
  }

  /** The stream went while its points came; whoever removed it may have looked for points before these were there. */
  async #takeBack(number: number, tally: StreamTotals): Promise<void> {
    await this.#of.geo.remove({ streams: [number] })
    this.#may.set(number, { problem: new NotFound('stream') })
    this.report.inserted -= tally.count
    for (const line of tally.lines) this.refuse(line, gone)
  }
}

const newNames = ({ parameters }: StreamRecord, { names }: StreamTotals): readonly string[] =>
  [...names.difference(new Set(parameters))].slice(0, Math.max(0, maxNames - parameters.length))
