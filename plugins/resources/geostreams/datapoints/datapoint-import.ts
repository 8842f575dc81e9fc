import {
  type Caller,
  Clock,
  CommitConflict,
  eq,
  event,
  GeoStore,
  Invalid,
  type Log,
  NoSpace,
  NotFound,
  Problem,
  Streams,
  wire,
} from 'pounce/sdk'
import { type Datapoint, type StreamRecord, streamIdOf } from 'pounce/sdk/geo'
import { GeostreamIds } from '../geostream-ids.ts'
import { abandon } from './abandoned-datapoints.ts'
import { AddingRights, type MayAdd } from './adding-rights.ts'
import type { BulkBody } from './bulk-json.ts'
import { type Draft, isRefused, type Refused, readPoint, refusalOf } from './datapoint-json.ts'
import { parsePoint } from './point-json.ts'
import type { SentPoint } from './text-pieces.ts'

/** Inserts into one stream since its last event. */
class StreamTotals {
  count = 0
  fromMs = Number.POSITIVE_INFINITY
  toMs = Number.NEGATIVE_INFINITY
  readonly names = new Set<string>()
  /** Positions of the datapoints in the request. */
  readonly lines: number[] = []

  add({ startMs, properties }: Draft, line: number): void {
    this.count += 1
    this.fromMs = Math.min(this.fromMs, startMs)
    this.toMs = Math.max(this.toMs, startMs)
    for (const name of Object.keys(properties)) this.names.add(name)
    this.lines.push(line)
  }
}

/** A rejection as reported to the client. */
type RefusedLine = Refused & { readonly line: number }

const maxLines = 1000

/** The outcome for the datapoints of one request. */
class DatapointImportReport {
  inserted = 0
  refused = 0
  readonly #lines: RefusedLine[] = []

  /** The first 1,000 rejections are kept in detail; all are counted. */
  refuse(line: number, { field, message }: Refused): void {
    this.refused += 1
    if (this.#lines.length < maxLines) this.#lines.push(field === undefined ? { line, message } : { line, field, message })
  }

  /** The response, by line. */
  toJSON(): { readonly inserted: number; readonly refused: number; readonly lines: RefusedLine[] } {
    return { inserted: this.inserted, refused: this.refused, lines: this.#lines.toSorted((one, other) => one.line - other.line) }
  }
}

const batchSize = 1000

/** Maximum length of the JSON of a batch, except of its last datapoint, in characters. */
const batchLength = 2 * 1024 * 1024

/** A stream is updated at the end, and at the latest after this many datapoints. */
const reportEvery = 10_000

/** Number of streams whose records are changed concurrently. */
const maxConcurrent = 100

const maxNames = 1000

const streamNotFound: Refused = { field: 'stream_id', message: 'Stream not found' }

interface NumberedDraft {
  readonly line: number
  readonly draft: Draft
}

/** Imports datapoints. */
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
 * The datapoints of one request, in batches: while one is being stored, the next is collected. Rights are checked once per stream. Rejected
 * datapoints do not affect the others.
 */
class DatapointImportRun {
  readonly report = new DatapointImportReport()
  /** The number of the last stored datapoint. */
  lastId: number | undefined
  readonly #of: DatapointImport
  readonly #caller: Caller
  readonly #log: Log
  readonly #may = new Map<number, MayAdd>()
  #tallies = new Map<number, StreamTotals>()
  #unreported = 0
  #batch: NumberedDraft[] = []
  /** Length of the JSON of the batch. */
  #length = 0
  #storing: Promise<{ readonly error: unknown } | undefined> = Promise.resolve(undefined)

  constructor(of: DatapointImport, caller: Caller, log: Log) {
    this.#of = of
    this.#caller = caller
    this.#log = log
  }

  /**
   * Returns undefined while there is room for more; otherwise wait for the returned promise, which rejects when an earlier batch could not
   * be stored.
   */
  add(line: number, draft: Draft, jsonLength: number): Promise<void> | undefined {
    this.#batch.push({ line, draft })
    this.#length += jsonLength
    return this.#batch.length >= batchSize || this.#length >= batchLength ? this.#next() : undefined
  }

  refuse(line: number, refused: Refused): void {
    this.report.refuse(line, refused)
  }

  /** Resolves when everything is durable and the streams are updated. After a failure they are updated with what was stored before it. */
  async finish(): Promise<DatapointImportReport> {
    try {
      await this.#next()
      await this.#stored()
    } catch (error) {
      await this.#report().catch((cause: unknown) => this.#log.error('Failed to update streams with their datapoints', { error: cause }))
      throw error
    }
    await this.#report()
    return this.report
  }

  /** Like `finish`, after the source of the datapoints has failed: that error is the one to report. */
  async abandon(): Promise<void> {
    await this.finish().catch((error: unknown) => this.#log.error('Not all received datapoints were stored', { error }))
  }

  async #next(): Promise<void> {
    const batch = this.#batch
    await this.#stored()
    if (this.#unreported >= reportEvery) await this.#report()
    if (batch.length === 0) return
    this.#batch = []
    this.#length = 0
    this.#storing = this.#store(batch).then(
      () => undefined,
      (error: unknown) => ({ error }),
    )
  }

  async #stored(): Promise<void> {
    const failed = await this.#storing
    if (failed) throw failed.error
  }

  async #store(batch: readonly NumberedDraft[]): Promise<void> {
    const allowed = await this.#allowed(batch)
    if (allowed.length === 0) return
    const ids = await this.#of.numbers.take('datapoint', allowed.length)
    // Clowder 1.x returns the time of arrival in whole seconds.
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

  /** The ids of a failed batch were not returned, so none of it may remain. */
  async #insert(points: readonly Datapoint[]) {
    try {
      return await this.#of.geo.insert(points)
    } catch (error) {
      const ids = points.map(({ id }) => id)
      await this.#of.geo
        .remove({ ids })
        .catch(() => abandon(this.#of.streams, points, this.#of.clock.now().toISOString(), this.#caller.user?.id))
        .catch((cause: unknown) => this.#log.error('Some of these datapoints may be stored', { ids, error: cause }))
      throw error
    }
  }

  async #allowed(batch: readonly NumberedDraft[]): Promise<readonly NumberedDraft[]> {
    const unknown = [...new Set(batch.map(({ draft }) => draft.stream))].filter(number => !this.#may.has(number))
    if (unknown.length > 0) for (const [number, may] of await this.#of.rights.of(this.#caller, unknown)) this.#may.set(number, may)
    return batch.filter(({ line, draft }) => {
      const may = this.#may.get(draft.stream)
      if (may && 'stream' in may) return true
      this.refuse(line, { field: 'stream_id', message: may ? may.problem.message : streamNotFound.message })
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
    this.#unreported += 1
  }

  async #report(): Promise<void> {
    const tallies = [...this.#tallies]
    this.#tallies = new Map()
    this.#unreported = 0
    for (let at = 0; at < tallies.length; at += maxConcurrent)
      await Promise.all(tallies.slice(at, at + maxConcurrent).map(([number, tally]) => this.#reportStream(number, tally)))
  }

  async #reportStream(number: number, tally: StreamTotals): Promise<void> {
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

  /** The stream was deleted while its datapoints arrived, possibly after its cascade had run. */
  async #takeBack(number: number, tally: StreamTotals): Promise<void> {
    await this.#of.geo.remove({ streams: [number] })
    this.#may.set(number, { problem: new NotFound('stream') })
    this.report.inserted -= tally.count
    for (const line of tally.lines) this.refuse(line, streamNotFound)
  }
}

const newNames = ({ parameters }: StreamRecord, { names }: StreamTotals): readonly string[] =>
  [...names.difference(new Set(parameters))].slice(0, Math.max(0, maxNames - parameters.length))

const take = (sent: SentPoint, run: DatapointImportRun, stream: number | undefined): Promise<void> | undefined => {
  const { line } = sent
  if (!('text' in sent)) {
    run.refuse(line, sent.refused)
    return undefined
  }
  const parsed = parsePoint(sent.text)
  if (isRefused(parsed)) {
    run.refuse(line, parsed)
    return undefined
  }
  try {
    return run.add(line, readPoint(parsed.value, { stream }), sent.text.length)
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    run.refuse(line, refusalOf(error.message))
    return undefined
  }
}

/** The same problem, with the progress so far. */
const withReport = (error: unknown, report: DatapointImportReport): unknown => {
  if (!(error instanceof Problem) || report.inserted + report.refused === 0) return error
  const { status, code, retryAfterSeconds } = error
  const more = retryAfterSeconds === undefined ? {} : { retryAfterSeconds }
  // The original message claims that nothing was stored.
  const what = error instanceof NoSpace && report.inserted > 0 ? 'No storage space left' : error.message
  return new Problem(status, code, `${what}. ${report.inserted} datapoints were stored before the error`, {
    ...more,
    cause: error,
    details: { ...error.details, ...report.toJSON() },
  })
}

/**
 * Imports a whole body. If it is interrupted, or the store becomes unavailable, stored datapoints are kept and the problem reports their
 * number.
 */
export const takeAll = async ({ points, stream }: BulkBody, run: DatapointImportRun): Promise<DatapointImportReport> => {
  try {
    for await (const some of points)
      for (const sent of some) {
        const full = take(sent, run, stream)
        if (full) await full
      }
  } catch (error) {
    await run.abandon()
    throw withReport(error, run.report)
  }
  try {
    return await run.finish()
  } catch (error) {
    throw withReport(error, run.report)
  }
}
