import { isFullRun } from 'pounce/sdk/testing'

/** Pseudo-random choices, determined by a seed. */
export interface SeededRandom {
  readonly seed: number
  /** 0 to `below` - 1. */
  int(below: number): number
  pick<T>(from: readonly T[]): T
  /** True with probability 1/`n`. */
  oneIn(n: number): boolean
}

const chosenSeed = process.env['POUNCE_TEST_SEED']

/** The seed for samples of a test matrix: constant unless `POUNCE_TEST_SEED` is set. */
export const sampleSeed = Number(chosenSeed ?? 1)

/** A generator with the seed of `POUNCE_TEST_SEED`, or a random one. Log the seed, so that a failure can be reproduced. */
export const seededRandom = (seed = Number(chosenSeed ?? Math.floor(Math.random() * 2 ** 32))): SeededRandom => {
  let state = seed >>> 0
  // mulberry32
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (below: number): number => Math.floor(next() * below)
  return { seed, int, pick: from => from[int(from.length)] as (typeof from)[number], oneIn: n => int(n) === 0 }
}

/** A sample of a table, by seed: one in `leftOut`, and at least one of each part. A full run gets everything. */
export const sampleOf = <T>(all: readonly T[], partsOf: (one: T) => readonly string[], leftOut: number): readonly T[] => {
  if (isFullRun) return all
  const random = seededRandom(sampleSeed)
  const met = new Set<string>()
  return all.filter(one => {
    const parts = partsOf(one)
    const isKept = parts.some(part => !met.has(part)) || random.oneIn(leftOut)
    if (isKept) for (const part of parts) met.add(part)
    return isKept
  })
}
