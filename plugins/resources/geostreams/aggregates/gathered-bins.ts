import { type GeoStore, Invalid } from 'pounce/sdk'
import type { BinLimit, GeoBin, GeoBinning, GeoFilter } from 'pounce/sdk/geo'
import { compareText } from 'pounce/sdk/kit'

/** All bins of one property and group, across streams and depths. */
export interface MergedBins {
  readonly property: string
  readonly group: number
  readonly bins: readonly GeoBin[]
}

type Pieces = AsyncIterable<readonly GeoBin[]>
type GroupOf = (fromMs: number) => number

/** Parameters of the merge. */
export interface MergeOptions {
  readonly binning: GeoBinning
  readonly groupOf: GroupOf
  /** Limits the total number of bins. */
  readonly limit: BinLimit
  readonly signal: AbortSignal | undefined
}

/** Maximum number of runs that are read in parallel. */
const maxRuns = 8
/** Maximum number of bins of streams beyond those, which are merged in memory. */
const maxJoined = 500_000

/** Reads one run of chunked bins, one bin at a time. */
class Run {
  readonly #pieces: AsyncIterator<readonly GeoBin[]>
  #piece: readonly GeoBin[] = []
  #at = 0

  constructor(pieces: Pieces) {
    this.#pieces = pieces[Symbol.asyncIterator]()
  }

  get head(): GeoBin | undefined {
    return this.#piece[this.#at]
  }

  /** Takes all next bins that match; when it resolves there is a next head, or the run has ended. */
  async take(fits: (bin: GeoBin) => boolean, into: GeoBin[]): Promise<void> {
    for (;;) {
      for (let bin = this.head; bin; bin = this.head) {
        if (!fits(bin)) return
        into.push(bin)
        this.#at += 1
      }
      if (!(await this.fill())) return
    }
  }

  /** Reads the next chunk; false at the end. */
  async fill(): Promise<boolean> {
    this.#at = 0
    for (;;) {
      const { done, value } = await this.#pieces.next()
      this.#piece = done ? [] : value
      if (done || value.length > 0) return !done
    }
  }

  async leave(): Promise<void> {
    await this.#pieces.return?.()
  }
}

/** Length of the texts of a bin. */
const lengthOf = ({ group }: GeoBin): number => group.reduce((sum, text) => sum + (text?.length ?? 0), 0)

/** Bins of several streams merged in memory, in the order of a single run. */
async function* joined(pieces: Pieces, limit: BinLimit): Pieces {
  const all: GeoBin[] = []
  let held = 0
  for await (const piece of pieces) {
    all.push(...piece)
    const length = piece.reduce((sum, bin) => sum + lengthOf(bin), 0)
    held += length
    limit.hold(length)
    if (all.length > maxJoined)
      throw new Invalid(`A sensor with many streams has more than ${maxJoined} bins: use longer bins, a shorter period, or one stream`)
  }
  yield all.sort((one, other) => compareText(one.property, other.property) || one.fromMs - other.fromMs)
  limit.release(held)
}

/**
 * Aggregates datapoints of some streams (at least one) as if they were one: by property, then time. Bins of a property that begin in one
 * group are returned together; with few streams, no more than that is held in memory.
 */
export async function* mergedBins(
  store: GeoStore,
  filter: GeoFilter & { readonly streams: readonly number[] },
  { binning, groupOf, limit, signal }: MergeOptions,
): AsyncGenerator<MergedBins, void, undefined> {
  const binsOf = (streams: readonly number[]): Pieces => store.bins({ filter: { ...filter, streams }, binning, signal })
  const alone = filter.streams.length > maxRuns ? filter.streams.slice(0, maxRuns - 1) : filter.streams
  const rest = filter.streams.slice(alone.length)
  const runs = [...alone.map(stream => new Run(binsOf([stream]))), ...(rest.length > 0 ? [new Run(joined(binsOf(rest), limit))] : [])]
  try {
    await Promise.all(runs.map(run => run.fill()))
    for (let next = first(runs, groupOf); next; next = first(runs, groupOf)) {
      const { property, group } = next
      const bins: GeoBin[] = []
      let held = 0
      const fits = (bin: GeoBin): boolean => {
        if (bin.property !== property || groupOf(bin.fromMs) !== group) return false
        const length = lengthOf(bin)
        held += length
        limit.hold(length)
        return true
      }
      for (const run of runs) await run.take(fits, bins)
      limit.take(bins.reduce((sum, { count }) => sum + count, 0))
      yield { property, group, bins }
      limit.release(held)
    }
  } finally {
    await Promise.all(runs.map(run => run.leave()))
  }
}

const first = (runs: readonly Run[], groupOf: GroupOf): Omit<MergedBins, 'bins'> | undefined => {
  let least: Omit<MergedBins, 'bins'> | undefined
  for (const { head } of runs) {
    if (!head) continue
    const { property } = head
    const group = groupOf(head.fromMs)
    const order = least ? compareText(property, least.property) || group - least.group : -1
    if (order < 0) least = { property, group }
  }
  return least
}
