import type { GeoStore } from 'pounce/sdk'
import type { StreamStatistics } from 'pounce/sdk/geo'
import type { Connection } from 'pounce/sdk/sqlite'
import { binSlices } from './bin-sums.ts'
import type { PackedPoints } from './packed-points.ts'
import { PieceBuilder } from './piece-builder.ts'
import { PlaceCache, ShapeCache } from './place-cache.ts'
import { type Known, QueryTooLong, type ScanLimits } from './plan.ts'
import { rowAt } from './scans.ts'
import {
  countOfStreams,
  countSlices,
  longBounds,
  type PackedPage,
  pageSlices,
  readSlices,
  type Slices,
  statisticsSlices,
} from './slices.ts'
import { statisticsOf } from './statistics.ts'
import type { FindQuery, GeoReadRequest } from './thread-requests.ts'

/** Limits of one call on the main thread: a few milliseconds at most. */
const shortBounds: ScanLimits = { compared: 100_000, moving: 2000, hits: 500, isFinal: false }
const shortSliceCost = 10_000
const longSliceCost = 10_000
/** Places loaded per call: a few milliseconds. */
const loadBatchSize = 5000

/** Reads on one connection. */
export class RtreeReader {
  readonly #known: Known

  constructor(db: Connection) {
    this.#known = { db, places: new PlaceCache(db), shapes: new ShapeCache(db) }
  }

  /** Runs `work` on one snapshot of the data, after refreshing the caches. */
  look<T>(epoch: number, work: () => T): T {
    return this.#known.db.snapshot(() => {
      this.#known.shapes.refresh()
      this.#known.places.refresh(epoch)
      return work()
    })
  }

  /** Loads some of the places that are not cached yet; true when all are cached. Called before reading many places, so that no single call has to load all of them. */
  load(epoch: number): boolean {
    return this.#known.places.refresh(epoch, loadBatchSize)
  }

  /** Throws `QueryTooLong` for a query that must run in another thread. */
  shortPage(epoch: number, query: FindQuery): PackedPage {
    return this.look(epoch, () => {
      const { value } = pageSlices(this.#known, query, shortBounds, shortSliceCost).next()
      if (!value) throw new QueryTooLong()
      return value
    })
  }

  get(epoch: number, id: number): PackedPoints | undefined {
    return this.look(epoch, () => {
      const { db, shapes, places } = this.#known
      const [stream, startMs] = db.get('SELECT stream, start FROM ids WHERE id = ?', id) ?? []
      if (typeof stream !== 'number' || typeof startMs !== 'number') return undefined
      const row = rowAt({ db, shapes, test: () => true }, { stream, startMs, id })
      const builder = new PieceBuilder(shapes, places, 1)
      if (row) builder.add(row)
      return builder.take()
    })
  }

  /** Throws `QueryTooLong` when a box has to be recomputed. */
  statistics(epoch: number, streams: readonly number[]): ReadonlyMap<number, StreamStatistics> {
    return this.look(epoch, () => statisticsOf(this.#known, streams))
  }

  highest(epoch: number): Awaited<ReturnType<GeoStore['highest']>> {
    return this.look(epoch, () => {
      const [id, stream] = this.#known.db.get('SELECT (SELECT max(id) FROM ids), (SELECT max(stream) FROM points)') ?? []
      return { id: Number(id ?? 0), stream: Number(stream ?? 0) }
    })
  }

  /** Number of points of these streams, or of all. */
  countOf(epoch: number, streams: ReadonlySet<number> | undefined): number {
    return this.look(epoch, () => countOfStreams(this.#known, streams))
  }

  /** Longer queries, in slices. Each slice must be run by `look`. */
  slices(request: GeoReadRequest): Slices<unknown> {
    switch (request.type) {
      case 'find':
        return pageSlices(this.#known, request.query, longBounds, longSliceCost)
      case 'read':
        return readSlices(this.#known, request)
      case 'count':
        return countSlices(this.#known, request)
      case 'bins':
        return binSlices(this.#known, request)
      case 'statistics':
        return statisticsSlices(this.#known, request)
    }
  }
}
