import { createHash, type Hash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { BlobStore, type Bytes, type Caller, Clock, DocumentStore, eq, GeoStore, type Json, Log, NotFound, Policy, wire } from 'pounce/sdk'
import { geoNumberOf, streamIdOf } from 'pounce/sdk/geo'
import { streamed } from 'pounce/sdk/kit'
import { type Stream, sensors, streams } from '../collections.ts'
import { seenBy } from '../listing.ts'
import { type CachedResponse, StoredResponses } from './stored-responses.ts'

const batchSize = 1000

/** Maximum number of streams to check before each response. */
const maxStreams = 10_000

/**
 * Checks whether the datapoints of streams are unchanged. Adding or deleting a datapoint changes the store's count, and the stream's record
 * right afterwards; a changed stream or sensor has another revision, and a deleted one is missing.
 */
class StreamVersions {
  #documents: DocumentStore
  #store: GeoStore

  constructor(documents: DocumentStore, store: GeoStore) {
    this.#documents = documents
    this.#store = store
  }

  /**
   * A hex digest that changes whenever the results for the streams (absent: all streams) may change; undefined for more streams than can be
   * checked.
   */
  async of(chosen: readonly number[] | undefined): Promise<string | undefined> {
    const hash = createHash('md5').update(chosen ? 'some' : 'all')
    const above = new Set<string>()
    let count = 0
    for await (const some of chosen ? this.#these(chosen) : this.#all()) {
      count += some.length
      if (count > maxStreams) return undefined
      await this.#add(hash, some)
      for (const { sensor } of some) above.add(sensor)
    }
    const ids = [...above].sort()
    for (let at = 0; at < ids.length; at += batchSize) {
      const found = await this.#documents.getMany(sensors, ids.slice(at, at + batchSize))
      for (const [id, { revision }] of found) hash.update(`${id} ${revision}\n`)
    }
    return hash.digest('hex')
  }

  async *#these(chosen: readonly number[]): AsyncIterable<readonly Stream[]> {
    const ids = [...chosen].sort((one, other) => one - other).map(streamIdOf)
    for (let at = 0; at < ids.length; at += batchSize) {
      const found = await this.#documents.getMany(streams, ids.slice(at, at + batchSize))
      yield ids.slice(at, at + batchSize).flatMap(id => found.get(id) ?? [])
    }
  }

  async *#all(): AsyncIterable<readonly Stream[]> {
    const query = { using: 'byAge', where: eq('state', 'live'), limit: batchSize } as const
    let page = await this.#documents.find(streams, query)
    for (;;) {
      yield page.items
      if (!page.next) return
      page = await this.#documents.find(streams, { ...query, after: page.next })
    }
  }

  async #add(hash: Hash, some: readonly Stream[]): Promise<void> {
    const statistics = await this.#store.statistics(some.map(({ id }) => geoNumberOf(id)))
    for (const { id, revision, state } of some) {
      const { count, firstStartMs, lastEndMs } = statistics.get(geoNumberOf(id)) ?? {}
      hash.update(`${id} ${revision} ${state} ${count} ${firstStartMs} ${lastEndMs}\n`)
    }
  }
}
wire(StreamVersions, DocumentStore, GeoStore)

/** The request: the route's name and its parameters as sent. */
interface CachedRequest {
  readonly route: string
  readonly parameters: Readonly<Record<string, unknown>>
}

const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)

/** The order of repeated values is not significant. */
const normal = (value: unknown): unknown => (Array.isArray(value) ? [...new Set(value.map(String))].sort() : value)

/** All given parameters, by name. */
const normalForm = ({ parameters }: CachedRequest): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.keys(parameters)
      .sort()
      .filter(name => isGiven(parameters[name]))
      .map(name => [name, normal(parameters[name])]),
  )

/** 32 upper-case hex digits, as in Clowder 1.x, derived from the route and all parameters. */
const answerKey = (request: CachedRequest): string =>
  createHash('md5')
    .update(JSON.stringify([request.route, normalForm(request)]))
    .digest('hex')
    .toUpperCase()

/** A query for datapoints whose response may be cached. */
export interface DatapointQuery extends CachedRequest {
  readonly caller: Caller
  /** From `Streams.chosen`. */
  readonly streams: readonly number[] | undefined
  /** Responses to HEAD requests are not cached. */
  readonly isHead: boolean
  /** The signal of the request. */
  readonly signal: AbortSignal
}

/** Produces a response; the signal cancels it. */
export type Produce = (signal?: AbortSignal) => Bytes

/** Maximum number of streams that a record lists individually. */
const maxNamed = 200

/** Requests whose responses were too long, recorded so that they are not buffered again. */
const maxRefused = 1000

class TooLong extends Error {}

/**
 * Caches responses that are the same for every caller, until a stream or sensor that they depend on changes. Callers who may view only some
 * streams get separate responses, which are never cached.
 */
export class ResponseCache {
  #responses: StoredResponses
  #state: StreamVersions
  #blobs: BlobStore
  #policy: Policy
  #clock: Clock
  #log: Log
  #making = new Map<string, Promise<CachedResponse | undefined>>()
  #refused = new Set<string>()

  constructor(kept: StoredResponses, state: StreamVersions, blobs: BlobStore, policy: Policy, clock: Clock, log: Log) {
    this.#responses = kept
    this.#state = state
    this.#blobs = blobs
    this.#policy = policy
    this.#clock = clock
    this.#log = log
  }

  /** Whether the caller may view every cached response. */
  isFor(caller: Caller): boolean {
    return seenBy(this.#policy, caller) === 'all'
  }

  /**
   * The response to a query: the cached one, or the result of `produce`, which is cached if it is not too long. `produce` may be called
   * more than once; its result must depend on the request alone. Concurrent equal requests share one call.
   */
  async answer(request: DatapointQuery, produce: Produce): Promise<Bytes> {
    const { signal } = request
    if (this.#responses.maxBytes === 0 || request.isHead || !this.isFor(request.caller)) return produce(signal)
    const key = answerKey(request)
    if (this.#refused.has(key)) return produce(signal)
    const state = await this.#state.of(request.streams)
    if (state === undefined) return produce(signal)
    const known = await this.#responses.get(key)
    // A result shared by several requests does not end with the first of them.
    const answer = known?.state === state ? known : await this.#once(`${key} ${state}`, () => this.#make(key, state, request, produce()))
    return answer ? this.show(answer, () => produce(signal)) : produce(signal)
  }

  /** The bytes of a cached response; `produce` is the fallback if they were deleted meanwhile. */
  show({ blob, contentType, filename }: CachedResponse, produce?: () => Bytes): Bytes {
    const open = async (): Promise<Readable> => {
      const stream = (await this.#blobs.get(blob)) ?? produce?.().open()
      if (!stream) throw new NotFound('cached response')
      return stream
    }
    // Without a Content-Length it is sent gzip-encoded to clients that accept that.
    return { open, contentType, ...(filename === null ? { inline: true } : { filename }) }
  }

  #once(name: string, make: () => Promise<CachedResponse | undefined>): Promise<CachedResponse | undefined> {
    const under = this.#making.get(name) ?? make().finally(() => this.#making.delete(name))
    this.#making.set(name, under)
    return under
  }

  /** Undefined when the response cannot be cached. Rejects when it cannot be produced. */
  async #make(
    key: string,
    state: string,
    request: DatapointQuery,
    { open, contentType, filename }: Bytes,
  ): Promise<CachedResponse | undefined> {
    const fault: { error?: unknown } = {}
    const created = this.#clock.now().toISOString()
    const { streams } = request
    try {
      const { key: blob, sizeBytes } = await this.#blobs.put(streamed(limited(await open(), this.#responses.maxBytes, fault)))
      const named = streams && streams.length <= maxNamed ? streams : null
      const query = { route: request.route, ...normalForm(request) } as { readonly [name: string]: Json }
      const record = { blob, sizeBytes, contentType, filename: filename ?? null, query, created, state, streams: named }
      try {
        return await this.#responses.keep(key, record)
      } catch (error) {
        await this.#responses.dropBytes(blob)
        throw error
      }
    } catch (error) {
      if (fault.error !== undefined) throw fault.error
      if (!(error instanceof TooLong)) this.#log.warn('Failed to cache a response', { error })
      else this.#refuse(key)
      return undefined
    }
  }

  #refuse(key: string): void {
    if (this.#refused.size >= maxRefused) this.#refused.clear()
    this.#refused.add(key)
  }
}
wire(ResponseCache, StoredResponses, StreamVersions, BlobStore, Policy, Clock, Log)

/** The same bytes, up to a limit; an error of the source is recorded in `fault`. */
async function* limited(source: Readable, maxBytes: number, fault: { error?: unknown }): AsyncGenerator<Buffer, void, undefined> {
  let sizeBytes = 0
  const pieces = source[Symbol.asyncIterator]()
  for (;;) {
    const { done, value } = await pieces.next().catch((error: unknown) => {
      fault.error = error
      throw error
    })
    if (done) return
    const piece = Buffer.from(value as string | Buffer)
    sizeBytes += piece.length
    if (sizeBytes > maxBytes) {
      source.destroy()
      throw new TooLong(`more than ${maxBytes} bytes`)
    }
    yield piece
  }
}
