import { setTimeout as pause } from 'node:timers/promises'
import { Conflict, Invalid, type Kind, Log, type SearchIndex, Unavailable, wire } from 'pounce/sdk'
import type {
  FacetCounts,
  FacetRequest,
  FieldCount,
  IndexChange,
  NameRequest,
  SearchDocument,
  SearchHits,
  SearchRequest,
  SearchScope,
  ValueCount,
} from 'pounce/sdk/search'
import { BulkWriteQueue } from './bulk-write-queue.ts'
import { BulkWriter } from './bulk-writer.ts'
import { ElasticsearchConnection } from './elasticsearch-connection.ts'
import { ElasticsearchIndexes } from './elasticsearch-indexes.ts'
import { countFacets, type FacetAnswer } from './facets.ts'
import type { OlderIndexes } from './index-format.ts'
import { IndexNames } from './index-names.ts'
import { IndexRebuild } from './index-rebuild.ts'
import { asProblem, statusOf, wrongSetting } from './problems.ts'
import { type LockTimes, lockTimes, RebuildLock } from './rebuild-lock.ts'
import { runSearch, type SearchAnswer } from './run-search.ts'
import { Config, type Settings } from './settings.ts'
import { type CountAnswer, findNames, type NamesAnswer, suggestFields, suggestTags, suggestValues } from './suggestions.ts'

/**
 * During a rolling update to a version with another index format, kernels of the older version write the changes that they handle to their
 * own index only.
 */
class OlderWrites {
  readonly #indexes: ElasticsearchIndexes
  readonly #keepMs: number
  #seen: OlderIndexes = {}
  #since = performance.now()

  constructor(indexes: ElasticsearchIndexes, keepMs: number) {
    this.#indexes = indexes
    this.#keepMs = keepMs
  }

  /**
   * Whether the index in use lacks changes that are in older ones. False while they are being written: each call compares with the one
   * before. Drops older indexes without writes for a while. `known`: their state when the rebuild of the index in use began.
   */
  async areMissing(known: OlderIndexes = {}): Promise<boolean> {
    const older = await this.#indexes.older()
    const isQuiet = isSame(older, this.#seen)
    if (!isQuiet) this.#since = performance.now()
    this.#seen = older
    if (Object.keys(older).length === 0) return false
    if (Object.entries(older).some(([index, writes]) => writes > (known[index] ?? 0))) return isQuiet
    if (isQuiet && performance.now() > this.#since + this.#keepMs) await this.#indexes.dropOlderForms()
    return false
  }
}

function isSame(one: OlderIndexes, other: OlderIndexes): boolean {
  return Object.keys(one).length === Object.keys(other).length && Object.entries(one).every(([index, writes]) => other[index] === writes)
}

/** Time after the last write of an older version until its index is deleted. */
const keptOlderMs = 600_000

/** Tries of a query while the index is not available: at once, then after a pause. */
const [maxTries, retryPauseMs] = [3, 100]

/** The index on an Elasticsearch server. Works while other kernels use the same one. */
export class ElasticsearchSearch implements SearchIndex {
  readonly engine = 'elasticsearch'
  readonly isShared = true
  readonly #settings: Settings
  readonly #log: Log
  readonly #names: IndexNames
  readonly #server: ElasticsearchConnection
  readonly #indexes: ElasticsearchIndexes
  readonly #lock: RebuildLock
  readonly #rebuild: IndexRebuild
  readonly #queue: BulkWriteQueue
  readonly #olderWrites: OlderWrites
  #isRebuilding = false

  constructor(settings: Settings, server: ElasticsearchConnection, log: Log, times: LockTimes = lockTimes, keepOlderMs = keptOlderMs) {
    this.#settings = settings
    this.#log = log
    this.#names = new IndexNames(settings.index)
    this.#server = server
    this.#indexes = new ElasticsearchIndexes(this.#server, this.#names, settings.shards)
    const refused = (id: string, reason: string): void =>
      log.error('The search server rejected an entry; it is indexed without its text', { id, reason })
    const writer = new BulkWriter(this.#server, this.#names, this.#indexes, settings.writeTimeoutMs, refused)
    this.#olderWrites = new OlderWrites(this.#indexes, keepOlderMs)
    this.#lock = new RebuildLock(this.#server, this.#names, times)
    this.#rebuild = new IndexRebuild(this.#indexes, this.#names, writer, this.#lock)
    this.#queue = new BulkWriteQueue(changes => writer.write(changes).catch(rethrown), settings.refreshMs)
  }

  /** Makes the first index, so that searches have one. Not having a server yet is no reason to stop. */
  async start(): Promise<void> {
    // Creating an index may take long: the start does not wait for a server that has just not responded in time.
    if (!this.#server.didRespond) return
    try {
      await this.#indexes.ready()
    } catch (error) {
      const wrong = wrongSetting(error)
      if (wrong) throw new Error(wrong, { cause: error })
      this.#log.warn('Failed to check the search index; retried at the first request', { error })
    }
  }

  async health(): Promise<void> {
    await this.#query({ query: { match_none: {} }, size: 0 })
  }

  async dispose(): Promise<void> {
    await this.#queue.settled()
  }

  async needsRebuild(): Promise<boolean> {
    try {
      await this.#indexes.ready()
      const meta = await this.#indexes.metaIfComplete()
      const isMissing = meta === undefined || (await this.#olderWrites.areMissing(meta.older))
      return isMissing && !(await this.#lock.isHeld())
    } catch (error) {
      throw asProblem(error)
    }
  }

  async identity(): Promise<string> {
    try {
      await this.#indexes.ready()
      return await this.#indexes.identity()
    } catch (error) {
      throw asProblem(error)
    }
  }

  async apply(changes: readonly IndexChange[]): Promise<void> {
    if (changes.length > 0) await this.#queue.add(changes)
  }

  async search(request: SearchRequest): Promise<SearchHits> {
    mustBeWithin('from', request.from, 10_000)
    mustBeWithin('size', request.size, 1000)
    const ends = performance.now() + this.#settings.searchTimeoutMs
    return runSearch(request, body => this.#query<SearchAnswer>(body, ends))
  }

  async facets(request: FacetRequest): Promise<FacetCounts> {
    mustBeWithin('limit', request.limit, 1000)
    return countFacets(request, body => this.#query<FacetAnswer>(body))
  }

  async names(request: NameRequest): Promise<SearchHits['hits']> {
    mustBeWithin('limit', request.limit, 100)
    return findNames(request, body => this.#query<NamesAnswer>(body))
  }

  fields(prefix: string, scope: SearchScope, limit: number): Promise<readonly FieldCount[]> {
    return suggestFields(prefix, scope, limit, body => this.#query<CountAnswer>(body))
  }

  values(field: string, prefix: string, scope: SearchScope, limit: number): Promise<readonly ValueCount[]> {
    return suggestValues({ field, prefix, scope, limit }, body => this.#query<CountAnswer>(body))
  }

  tags(
    prefix: string,
    scope: SearchScope,
    limit: number,
    kind?: Kind,
  ): Promise<readonly { readonly tag: string; readonly count: number }[]> {
    return suggestTags(prefix, scope, { limit, kind }, body => this.#query<CountAnswer>(body))
  }

  async rebuild(
    documents: AsyncIterable<SearchDocument>,
    options: { readonly signal?: AbortSignal; progress?(count: number): void } = {},
  ): Promise<{ readonly count: number }> {
    if (this.#isRebuilding) throw new Conflict('A rebuild of the index is already running')
    this.#isRebuilding = true
    try {
      return { count: await this.#rebuild.run(documents, options) }
    } catch (error) {
      throw asProblem(error)
    } finally {
      this.#isRebuilding = false
    }
  }

  async clear(): Promise<void> {
    if (this.#isRebuilding) throw new Conflict('The index cannot be emptied during a rebuild')
    await this.#rebuild.clear().catch(rethrown)
  }

  /** Queries the index in use, which is created if absent. While an index is being replaced it is absent, or its shards are, for a moment. */
  async #query<T extends object>(body: Readonly<Record<string, unknown>>, ends?: number): Promise<T> {
    const until = ends ?? performance.now() + this.#settings.searchTimeoutMs
    for (let tries = 1; ; tries += 1) {
      try {
        if (!this.#indexes.isReady) await inTime(this.#indexes.ready(), until)
        return await this.#askOnce<T>(body, until)
      } catch (error) {
        const status = statusOf(error)
        if ((status !== 404 && status !== 503) || tries === maxTries) throw asProblem(error)
        if (status === 404) this.#indexes.lost()
        if (tries > 1) await pause(retryPauseMs)
      }
    }
  }

  async #askOnce<T extends object>(body: Readonly<Record<string, unknown>>, until: number): Promise<T> {
    const limitMs = Math.max(1, Math.floor(until - performance.now()))
    const path = `/${this.#names.live}/_search`
    const query = { allow_partial_search_results: false }
    const call = { method: 'POST', path, query, body: { ...body, timeout: `${limitMs}ms` }, limitMs, isRepeatable: true } as const
    const answer = (await this.#server.call<T & { readonly timed_out?: boolean }>(call)).body
    if (answer.timed_out) throw new Unavailable('The search timed out')
    return answer
  }
}

/** Rejects after the time limit; the work continues. */
async function inTime(work: Promise<void>, until: number): Promise<void> {
  const ended = new AbortController()
  const limit = pause(Math.max(0, until - performance.now()), true, { signal: ended.signal }).catch(() => false)
  try {
    if (await Promise.race([work.then(() => false), limit])) throw new Unavailable('The search index is not available yet')
  } finally {
    ended.abort()
  }
}

function rethrown(error: unknown): never {
  throw asProblem(error)
}

function mustBeWithin(name: string, value: number, max: number): void {
  if (!Number.isInteger(value) || value < 0 || value > max) throw new Invalid(`${name} must be 0 to ${max}, not ${value}`)
}
wire(ElasticsearchSearch, Config, ElasticsearchConnection, Log)
