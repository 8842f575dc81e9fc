import type { GeoBin, GeoBinning } from 'pounce/sdk'
import { BinSums } from './bin-sums.ts'
import { type OfStream, perStream } from './choose-source.ts'
import { type Known, planFor } from './plan.ts'
import type { ReadQuestion } from './questions.ts'
import type { Range, Source } from './source.ts'
import { byCodePoint, namesOf } from './statistics.ts'
import { longBounds, pieceSize, type Turns, turnEffort } from './turns.ts'

/** With more bins than this a stream is summed up property by property, so that bins can go as soon as time has passed them. */
const mostInMemory = 50_000
/** With more names it is not, for each takes a walk through the stream. */
const mostNames = 64

/** Sums, stream after stream. */
export function* binTurns(known: Known, { filter, binning }: Extract<ReadQuestion, { ask: 'bins' }>): Turns<readonly GeoBin[]> {
  const plan = planFor(known, filter, longBounds)
  const range = { isDescending: false, fromMs: plan.fromMs, untilMs: plan.untilMs, after: undefined }
  const turn = new Turn()
  let ready: GeoBin[] = []
  for (const of of perStream(plan)) {
    for (const bins of streamTurns(known, of, range, binning, turn)) {
      if (!bins) {
        yield undefined
        continue
      }
      for (const bin of bins) ready.push(bin)
      let sent = 0
      for (; ready.length - sent >= pieceSize; sent += pieceSize) yield ready.slice(sent, sent + pieceSize)
      if (sent > 0) ready = ready.slice(sent)
    }
  }
  if (ready.length > 0) yield ready
}

/** What was done since others had their turn; many small streams share one. */
class Turn {
  #spent = 0

  /** Fills some more; true when it is time to let others go on. */
  fill(source: Source, sums: BinSums): boolean {
    this.#spent += 1 + source.fill(sums, turnEffort - this.#spent)
    if (this.#spent < turnEffort) return false
    this.#spent = 0
    return true
  }
}

function* streamTurns(
  known: Known,
  { stream, rows }: OfStream,
  range: Range,
  binning: GeoBinning,
  turn: Turn,
): Generator<readonly GeoBin[] | undefined> {
  const sums = new BinSums(stream, binning, known)
  let isSplit: boolean | undefined
  for (const source = rows(range); !source.isDone; ) {
    if (turn.fill(source, sums)) yield undefined
    if (sums.size <= mostInMemory) continue
    isSplit ??= binning.time !== 'all' && namesOf(known, stream, mostNames + 1).length <= mostNames
    if (!isSplit) continue
    yield* nameByName(known, { stream, rows }, range, binning, turn)
    return
  }
  yield sums.sorted()
}

function* nameByName(
  known: Known,
  { stream, rows }: OfStream,
  range: Range,
  binning: GeoBinning,
  turn: Turn,
): Generator<readonly GeoBin[] | undefined> {
  const names = binning.properties ? [...new Set(binning.properties)].sort(byCodePoint) : namesOf(known, stream, mostNames)
  for (const name of names) {
    const sums = new BinSums(stream, { ...binning, properties: [name] }, known)
    for (const source = rows(range); !source.isDone; ) {
      if (turn.fill(source, sums)) yield undefined
      yield sums.takeFinished()
    }
    yield sums.sorted()
  }
}
