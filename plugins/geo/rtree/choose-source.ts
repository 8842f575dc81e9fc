import type { GeoAfter, GeoSort } from 'pounce/sdk'
import { ConcatSource, MergeSource } from './joined-sources.ts'
import type { Plan } from './plan.ts'
import { streamOf } from './rows.ts'
import { HitsSource, PickingSource, type Reading, ScanSource } from './scans.ts'
import { keyEffort, type Range, type Source, seekEffort } from './source.ts'

/** What is wanted of the rows of a plan. */
export interface Wanted {
  readonly sort: GeoSort
  readonly after: GeoAfter | undefined
  readonly limit: number
  /** Rather some milliseconds more than a walk through all rows when there are few that fit. */
  readonly isPatient: boolean
}

/** More are not merged: each keeps rows in memory. */
const mostMerged = 2000
/** Of whoever wants all rows. */
export const manyRows = 1_000_000_000
const compare = (one: GeoAfter, other: GeoAfter): number => one.startMs - other.startMs || one.id - other.id

/** The way to the rows of a plan, in order, that probably looks at the fewest. */
export const sourceFor = (plan: Plan, { sort, after, limit, isPatient }: Wanted): Source => {
  const isDescending = sort.order === 'descending'
  const range: Range = { isDescending, fromMs: plan.fromMs, untilMs: plan.untilMs, after }
  return sort.by === 'stream' ? byStream(plan, range) : byStart(plan, range, limit, isPatient)
}

const hitsAlong = (hits: readonly GeoAfter[], { isDescending, after }: Range): readonly GeoAfter[] => {
  const sign = isDescending ? -1 : 1
  const left = after ? hits.filter(hit => sign * compare(hit, after) > 0) : [...hits]
  return left.toSorted((one, other) => sign * compare(one, other))
}

const byStart = (plan: Plan, range: Range, limit: number, isPatient: boolean): Source => {
  const { streams, hits, all, reading } = plan
  if (streams === undefined) return new ScanSource(reading, range)
  const sources = isMerged(streams.size, all, limit, isPatient)
    ? [...streams].map(stream => new ScanSource(reading, range, stream))
    : [walkFor(reading, streams, all, range)]
  if (hits.length > 0) sources.push(new HitsSource(reading, hitsAlong(hits, range)))
  const [only, ...more] = sources
  return only && more.length === 0 ? only : new MergeSource(sources, range.isDescending, limit)
}

/** Merging seeks in each stream and reads a few rows of it; walking reads keys of all streams, and then each row that is wanted. */
const isMerged = (count: number, all: number, limit: number, isPatient: boolean): boolean => {
  if (count > mostMerged || (limit >= manyRows && count > all / 2)) return false
  return isPatient || count * (2 * seekEffort) < limit * (seekEffort + (keyEffort * all) / count)
}

const walkFor = (reading: Reading, streams: ReadonlySet<number>, all: number, range: Range): Source => {
  if (streams.size <= all / 2) return new PickingSource(reading, range, streams)
  return new ScanSource({ ...reading, test: row => streams.has(streamOf(row)) && reading.test(row) }, range)
}

const byStream = (plan: Plan, range: Range): Source => {
  const { isDescending, after } = range
  const isAhead = ({ stream }: OfStream): boolean => !after || (isDescending ? stream <= after.stream : stream >= after.stream)
  const all = [...perStream(plan)].filter(isAhead)
  if (isDescending) all.reverse()
  return new ConcatSource(
    all.values().map(
      ({ stream, rows }) =>
        () =>
          rows({ ...range, after: stream === after?.stream ? after : undefined }),
    ),
  )
}

/** How to get the rows of one stream, as often as they are needed. */
export interface OfStream {
  readonly stream: number
  rows(range: Range): Source
}

/** The streams of a plan by their numbers. */
export function* perStream({ streams, hits, reading, places }: Plan): Generator<OfStream> {
  const hitsOf = Map.groupBy(hits, ({ stream }) => stream)
  for (const stream of Float64Array.from([...(streams ?? places.streams), ...hitsOf.keys()]).sort()) {
    const found = hitsOf.get(stream)
    const rows = (range: Range): Source =>
      found ? new HitsSource(reading, hitsAlong(found, range)) : new ScanSource(reading, range, stream)
    yield { stream, rows }
  }
}
