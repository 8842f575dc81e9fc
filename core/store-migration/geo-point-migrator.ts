import { createHash } from 'node:crypto'
import { Conflict, type GeoStore, Invalid } from 'pounce/sdk'
import type { Datapoint, GeoSort } from 'pounce/sdk/geo'
import { canonical } from './fingerprint.ts'

/** The stores and options of a datapoint migration. */
export interface PointRoute {
  readonly from: GeoStore
  readonly to: GeoStore
}

/** The number of points in a store, and a digest of their content. */
interface StoredContents {
  readonly count: number
  readonly digest: string
}

const byStream: GeoSort = { by: 'stream', order: 'ascending' }
const insertBatchSize = 5000
const removeBatchSize = 1000

/** Negative if the first point precedes the other, ordered by stream, time and id. */
const compare = (one: Datapoint, other: Datapoint): number => one.stream - other.stream || one.startMs - other.startMs || one.id - other.id

/** Iterates over all points of a store with lookahead. */
class PointWalk {
  readonly #pieces: AsyncIterator<readonly Datapoint[]>
  #piece: readonly Datapoint[] = []
  #at = 0

  constructor(store: GeoStore) {
    this.#pieces = store.read({ filter: {}, sort: byStream })[Symbol.asyncIterator]()
  }

  /** The next point, without advancing; undefined after the last. */
  async next(): Promise<Datapoint | undefined> {
    while (this.#at === this.#piece.length) {
      const { done, value } = await this.#pieces.next()
      if (done) return undefined
      this.#piece = value
      this.#at = 0
    }
    return this.#piece[this.#at]
  }

  step(): void {
    this.#at += 1
  }

  async end(): Promise<void> {
    await this.#pieces.return?.()
  }
}

/**
 * Makes a datapoint store identical to another one. Resumes an interrupted run from the state of the target: both are read in the same order, and
 * existing points are skipped.
 */
export class GeoPointMigrator {
  readonly #route: PointRoute
  /** Number of points copied in this run. */
  copied = 0

  constructor(route: PointRoute) {
    this.#route = route
  }

  async refuseFull(why: string): Promise<void> {
    if ((await this.#route.to.count({}, 1)) > 0) throw new Conflict(`The target is not empty: it contains datapoints. ${why}`)
  }

  /** Copies missing and different points, and removes those that the source does not have. Repeating it without changes writes nothing. */
  async move(onProgress: (count: number) => void): Promise<void> {
    const { from, to } = this.#route
    const [source, target] = [new PointWalk(from), new PointWalk(to)]
    let [missing, left]: [Datapoint[], number[]] = [[], []]
    let seen = 0
    const flush = async (): Promise<void> => {
      // A different point under the same id is removed first.
      if (left.length > 0) await to.remove({ ids: left })
      await this.#insert(missing)
      ;[missing, left] = [[], []]
      onProgress(seen)
    }
    try {
      for (;;) {
        const [point, known] = [await source.next(), await target.next()]
        if (!point && !known) break
        const order = !known ? -1 : !point ? 1 : compare(point, known)
        if (order >= 0) target.step()
        if (order <= 0) {
          source.step()
          seen += 1
        }
        const isSame = order === 0 && canonical(point) === canonical(known)
        if (known && order >= 0 && !isSame) left.push(known.id)
        if (point && order <= 0 && !isSame) missing.push(point)
        if (missing.length === insertBatchSize || left.length === removeBatchSize) await flush()
        else if (seen % insertBatchSize === 0) onProgress(seen)
      }
      await flush()
    } finally {
      await Promise.allSettled([source.end(), target.end()])
    }
  }

  /** Rereads all points on both sides and throws `Invalid` if they differ. Resolves to their number. */
  async compare(onProgress: (count: number) => void): Promise<number> {
    const { from, to } = this.#route
    const [ofSource, ofTarget] = await Promise.allSettled([storedContents(from, onProgress), storedContents(to, () => undefined)])
    if (ofSource.status === 'rejected') throw ofSource.reason
    if (ofTarget.status === 'rejected') throw ofTarget.reason
    const [source, target] = [ofSource.value, ofTarget.value]
    if (source.count !== target.count || source.digest !== target.digest)
      throw new Invalid(
        `The datapoints differ after the migration: ${source.count} and ${target.count}, ${source.digest} and ${target.digest}. Is a server running on one of the stores? The migration is not complete`,
      )
    return source.count
  }

  async #insert(points: readonly Datapoint[]): Promise<void> {
    if (points.length === 0) return
    for (const [at, result] of (await this.#route.to.insert(points)).entries()) {
      if (result.status === 'refused') throw new Invalid(`The target store rejects the datapoint ${points[at]?.id}: ${result.reason}`)
      if (result.status === 'inserted') this.copied += 1
    }
  }
}

const storedContents = async (store: GeoStore, onProgress: (count: number) => void): Promise<StoredContents> => {
  const hash = createHash('sha256')
  let count = 0
  for await (const piece of store.read({ filter: {}, sort: byStream })) {
    hash.update(piece.map(point => `${canonical(point)}\n`).join(''))
    count += piece.length
    onProgress(count)
  }
  return { count, digest: hash.digest('hex') }
}
