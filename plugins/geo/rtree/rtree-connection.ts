import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { type GeoStore, Invalid, Unavailable } from 'pounce/sdk'
import type { Datapoint, GeoBin, GeoFilter, GeoPage, PointInserted, StreamStatistics } from 'pounce/sdk/geo'
import { checkBinning, checkDatapoint, checkGeoFilter, checkGeoIds } from 'pounce/sdk/geo'
import { GeoFile } from './geo-file.ts'
import { InsertQueue } from './insert-queue.ts'
import { packPoints, Unpacker } from './packed-points.ts'
import { QueryTooLong } from './plan.ts'
import type { Removed } from './remove-points.ts'
import type { RtreeReader } from './rtree-reader.ts'
import type { FoundStatistics, PackedPage } from './slices.ts'
import { TaskThread } from './task-thread.ts'
import { defaultSort, type FindQuery, type GeoOpening, type GeoReadRequest } from './thread-requests.ts'

const maxInserted = 5000
/** Points that are checked and packed in one slice: a millisecond. */
const packBatchSize = 500
/** Statistics of more streams are computed by a thread. */
const maxStreams = 100
/** Number of removed streams after which readers drop their cached places. */
const maxRemovedStreams = 1000
/** The writer modifies pages all over the file; a reader mostly reads each page once. */
const [writerCacheMiB, readerCacheMiB] = [16, 8]
/** Most objects of a thread become garbage at once. */
const [writerYoungMb, readerYoungMb] = [16, 6]

/** An open store: single points and short pages are read on the main thread, everything longer by threads; one thread writes. */
export class RtreeConnection implements Omit<GeoStore, 'engine'> {
  readonly #file: GeoFile
  readonly #writer: TaskThread
  readonly #readers: readonly TaskThread[]
  readonly #inserts: InsertQueue
  readonly #inserting = new Set<Promise<unknown>>()
  /** Incremented when readers should drop removed places, which are harmless but take memory. */
  #epoch = 0
  #removedStreams = 0
  #isOpen = true

  constructor(opening: GeoOpening, readers: number) {
    this.#file = new GeoFile(opening)
    this.#writer = new TaskThread(() => threadFor(opening), 'The datapoint writer thread')
    const start = (): Worker => threadFor({ ...opening, readOnly: true })
    this.#readers = Array.from({ length: readers }, () => new TaskThread(start, 'A datapoint reader thread'))
    this.#inserts = new InsertQueue(this.#writer)
  }

  async health(): Promise<void> {
    this.#mustBeOpen()
    await this.#file.use(this.#epoch, reader => reader.statistics(this.#epoch, [1]))
  }

  /** Writes what is queued, ends the threads and closes the file. Later calls reject with `Unavailable`, active readers fail. */
  async dispose(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    await Promise.allSettled(this.#inserting)
    await Promise.all([this.#writer, ...this.#readers].map(thread => thread.close()))
    this.#file.close()
  }

  #mustBeOpen(): void {
    if (!this.#isOpen) throw new Unavailable('The datapoint store is not open')
  }

  async insert(points: readonly Datapoint[]): Promise<readonly PointInserted[]> {
    this.#mustBeOpen()
    const inserted = this.#insert(points)
    this.#inserting.add(inserted)
    try {
      return await inserted
    } finally {
      this.#inserting.delete(inserted)
    }
  }

  async #insert(points: readonly Datapoint[]): Promise<readonly PointInserted[]> {
    if (points.length > maxInserted) throw new Invalid(`At most ${maxInserted} points at once, not ${points.length}`)
    await this.#file.ready(this.#epoch)
    const pieces: Promise<readonly PointInserted[]>[] = []
    for (let at = 0; at < points.length; at += packBatchSize) {
      if (at > 0) await setImmediate()
      pieces.push(this.#insertPiece(points.slice(at, at + packBatchSize)))
    }
    // All are awaited, so that no rejection is unhandled.
    const settled = await Promise.allSettled(pieces)
    const failed = settled.find(each => each.status === 'rejected')
    if (failed) throw failed.reason
    return settled.flatMap(each => (each.status === 'fulfilled' ? each.value : []))
  }

  async #insertPiece(points: readonly Datapoint[]): Promise<readonly PointInserted[]> {
    const reasons = points.map(checkDatapoint)
    const right = points.filter((_, at) => reasons[at] === undefined)
    const isNew = right.length === 0 ? new Uint8Array() : await this.#inserts.add(packPoints(right))
    let at = 0
    return reasons.map(reason => {
      if (reason !== undefined) return { status: 'refused', reason }
      return { status: isNew[at++] === 1 ? 'inserted' : 'present' }
    })
  }

  async get(id: number): Promise<Datapoint | undefined> {
    this.#mustBeOpen()
    if (!Number.isSafeInteger(id)) return undefined
    const packed = await this.#file.use(this.#epoch, reader => reader.get(this.#epoch, id))
    return packed && new Unpacker().unpack(packed)[0]
  }

  async find(query: FindQuery): Promise<GeoPage> {
    this.#mustBeOpen()
    checkGeoFilter(query.filter)
    const { limit } = query
    if (!Number.isInteger(limit) || limit < 1 || limit > 1000) throw new Invalid(`A page has 1 to 1,000 points, not ${limit}`)
    const { packed, next } = (await this.#short(reader => reader.shortPage(this.#epoch, query))) ?? (await this.#longPage(query))
    const points = new Unpacker().unpack(packed)
    return next ? { points, next } : { points }
  }

  async #longPage(query: FindQuery): Promise<PackedPage> {
    return (await this.#reader().run({ type: 'find', query, epoch: this.#epoch })) as PackedPage
  }

  /** Undefined for what would take the main thread too long. */
  #short<T>(work: (reader: RtreeReader) => T): Promise<T | undefined> {
    return this.#file.use(this.#epoch, reader => {
      try {
        return work(reader)
      } catch (error) {
        if (error instanceof QueryTooLong) return undefined
        throw error
      }
    })
  }

  /** The thread with the least work. */
  #reader(): TaskThread {
    return this.#readers.reduce((one, other) => (other.load < one.load ? other : one))
  }

  async *#pieces(
    request: Omit<Extract<GeoReadRequest, { type: 'read' }>, 'epoch'> | Omit<Extract<GeoReadRequest, { type: 'bins' }>, 'epoch'>,
    signal: AbortSignal | undefined,
  ) {
    this.#mustBeOpen()
    await this.#file.ready(this.#epoch)
    for await (const piece of this.#reader().pieces({ ...request, epoch: this.#epoch }, [], signal)) {
      yield piece
      // A thread that has its next piece ready would be processed before anything else: yield to other tasks.
      await setImmediate()
    }
  }

  async *read({ filter, sort = defaultSort, signal }: Parameters<GeoStore['read']>[0]): AsyncGenerator<readonly Datapoint[]> {
    checkGeoFilter(filter)
    const unpacker = new Unpacker()
    for await (const piece of this.#pieces({ type: 'read', filter, sort }, signal)) yield unpacker.unpack(piece as PackedPage['packed'])
  }

  async *bins({ filter, binning, signal }: Parameters<GeoStore['bins']>[0]): AsyncGenerator<readonly GeoBin[]> {
    checkGeoFilter(filter)
    checkBinning(binning)
    for await (const piece of this.#pieces({ type: 'bins', filter, binning }, signal)) yield piece as readonly GeoBin[]
  }

  async count(filter: GeoFilter, upTo: number): Promise<number> {
    this.#mustBeOpen()
    checkGeoFilter(filter)
    if (!Number.isInteger(upTo) || upTo < 1 || upTo > 1e9) throw new Invalid(`Points are counted up to 1 to 10^9, not ${upTo}`)
    const { streams, ...conditions } = filter
    const isOfStreams = Object.values(conditions).every(condition => condition === undefined)
    if (isOfStreams && (streams?.length ?? 0) <= maxStreams) {
      return Math.min(upTo, await this.#file.use(this.#epoch, reader => reader.countOf(this.#epoch, streams && new Set(streams))))
    }
    await this.#file.ready(this.#epoch)
    return (await this.#reader().run({ type: 'count', filter, upTo, epoch: this.#epoch })) as number
  }

  highest(): ReturnType<GeoStore['highest']> {
    this.#mustBeOpen()
    return this.#file.use(this.#epoch, reader => reader.highest(this.#epoch))
  }

  async statistics(streams: readonly number[]): Promise<ReadonlyMap<number, StreamStatistics>> {
    this.#mustBeOpen()
    checkGeoIds(streams, 'streams', 1000)
    const short = streams.length <= maxStreams ? await this.#short(reader => reader.statistics(this.#epoch, streams)) : undefined
    if (short) return short
    await this.#file.ready(this.#epoch)
    const found = (await this.#reader().run({ type: 'statistics', streams, epoch: this.#epoch })) as FoundStatistics
    if (found.boxes.length > 0) await this.#writer.run({ type: 'settle', boxes: found.boxes })
    return found.statistics
  }

  async remove(what: { readonly ids: readonly number[] } | { readonly streams: readonly number[] }): Promise<number> {
    this.#mustBeOpen()
    if ('ids' in what) checkGeoIds(what.ids, 'ids', 1000)
    else checkGeoIds(what.streams, 'streams', 1000)
    await this.#file.ready(this.#epoch)
    const { count, removed: gone } = (await this.#writer.run({ type: 'remove', ...what })) as Removed
    this.#removedStreams += gone
    if (this.#removedStreams >= maxRemovedStreams) {
      this.#removedStreams = 0
      this.#epoch += 1
    }
    return count
  }
}
const threadFor = (opening: GeoOpening): Worker => {
  const [maxMiB, maxYoungGenerationSizeMb] = opening.readOnly ? [readerCacheMiB, readerYoungMb] : [writerCacheMiB, writerYoungMb]
  const workerData: GeoOpening = { ...opening, cacheMiB: Math.min(opening.cacheMiB, maxMiB) }
  return new Worker(new URL('./geo-worker.ts', import.meta.url), { workerData, resourceLimits: { maxYoungGenerationSizeMb } })
}
