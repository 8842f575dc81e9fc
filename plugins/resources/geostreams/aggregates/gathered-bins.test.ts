import test from 'ava'
import { Invalid } from 'pounce/sdk'
import { BinLimit, type GeoBin } from 'pounce/sdk/geo'
import { MemoryGeoStore } from 'pounce/sdk/testing'
import { type MergedBins, mergedBins } from './gathered-bins.ts'

const dayMs = 86_400_000

/** Generated bins of a stream; records which streams were released. */
class Runs extends MemoryGeoStore {
  readonly left: number[] = []
  readonly #of: (stream: number) => AsyncIterable<readonly GeoBin[]>

  constructor(of: (stream: number) => AsyncIterable<readonly GeoBin[]>) {
    super()
    this.#of = of
  }

  override async *bins({ filter }: Parameters<MemoryGeoStore['bins']>[0]): AsyncGenerator<readonly GeoBin[]> {
    const { streams = [] } = filter
    try {
      for (const stream of streams) yield* this.#of(stream)
    } finally {
      this.left.push(...streams)
    }
  }
}

const bin = (stream: number, property: string, day: number): GeoBin => ({
  ...{ stream, property, fromMs: day * dayMs, toMs: (day + 1) * dayMs, depth: null, group: [] },
  ...{ count: 1, sum: day, min: day, max: day },
})

/** In chunks of the given size, with empty chunks in between. */
async function* inPieces(bins: readonly GeoBin[], size: number): AsyncGenerator<readonly GeoBin[]> {
  yield []
  for (let at = 0; at < bins.length; at += size) yield bins.slice(at, at + size)
}

const gather = (store: MemoryGeoStore, streams: readonly number[], group = (fromMs: number): number => fromMs) =>
  mergedBins(store, { streams }, { binning: { time: 'day' }, groupOf: group, limit: new BinLimit(), signal: undefined })

const shapeOf = ({ property, group, bins }: MergedBins) => [property, group / dayMs, bins.map(({ stream }) => stream).sort((a, b) => a - b)]

test('runs of few and of many streams are merged in order, regardless of their chunks', async t => {
  for (const count of [1, 2, 8, 9, 30]) {
    const streams = Array.from({ length: count }, (_, at) => at + 1)
    // Each stream has the days divisible by its number, for two properties, one of them with a name outside the Basic Multilingual Plane.
    const daysOf = (stream: number): readonly number[] => Array.from({ length: 60 }, (_, day) => day).filter(day => day % stream === 0)
    const store = new Runs(stream =>
      inPieces(
        ['\uffee', '𝒗'].flatMap(property => daysOf(stream).map(day => bin(stream, property, day))),
        (stream % 5) + 1,
      ),
    )
    const found = (await Array.fromAsync(gather(store, streams))).map(shapeOf)
    const expected = ['\uffee', '𝒗'].flatMap(property =>
      Array.from({ length: 60 }, (_, day) => [property, day, streams.filter(stream => day % stream === 0)]),
    )
    t.deepEqual(found, expected, `${count}`)
    t.deepEqual(
      [...store.left].sort((a, b) => a - b),
      streams,
    )
  }
})

test('bins of one group are returned together', async t => {
  const store = new Runs(stream =>
    inPieces(
      [0, 1, 2, 3].map(day => bin(stream, 'v', day)),
      1,
    ),
  )
  const found = await Array.fromAsync(gather(store, [1, 2], fromMs => Math.floor(fromMs / (2 * dayMs))))
  t.deepEqual(
    found.map(({ group, bins }) => [group, bins.length]),
    [
      [0, 4],
      [1, 4],
    ],
  )
})

test('leaving the loop early releases all streams', async t => {
  const store = new Runs(stream =>
    inPieces(
      [0, 1, 2].map(day => bin(stream, 'v', day)),
      1,
    ),
  )
  for await (const { bins } of gather(store, [1, 2, 3])) {
    t.is(bins.length, 3)
    break
  }
  t.deepEqual([...store.left].sort(), [1, 2, 3])
})

test('an error in one stream fails the whole read, and all streams are released', async t => {
  const store = new Runs(async function* (stream) {
    yield [bin(stream, 'v', 0)]
    if (stream === 2) throw new Error('away')
    yield [bin(stream, 'v', 1)]
  })
  await t.throwsAsync(Array.fromAsync(gather(store, [1, 2, 3])), { message: 'away' })
  t.deepEqual([...store.left].sort(), [1, 2, 3])
})

test('too many bins of many streams are refused', async t => {
  const piece = Array.from({ length: 2000 }, (_, day) => bin(9, 'v', day))
  const store = new Runs(async function* (stream) {
    if (stream >= 8) for (let n = 0; n < 126; n += 1) yield piece
  })
  const streams = Array.from({ length: 10 }, (_, at) => at + 1)
  await t.throwsAsync(Array.fromAsync(gather(store, streams)), { instanceOf: Invalid, message: /use longer bins/ })
})
