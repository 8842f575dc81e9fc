import test, { type ExecutionContext } from 'ava'
import { isFullRun } from 'pounce/sdk/testing'
import { dice } from '../support/dice.ts'
import type { Cell } from './cell.ts'
import { noteCounts } from './counts.ts'
import { type Counts, newCounts, runDeeds, runRefusals } from './matrix.ts'
import type { Mode } from './oracle/letters.ts'
import type { MatrixRoute } from './routes.ts'
import { sendings } from './sent.ts'
import { makeWorld } from './world.ts'

/** One in so many is asked of what is left out at times; a full run asks all. */
const thingsLeftOut = 3
const pairsLeftOut = 20
const deedsLeftOut = 16

const sampled = (seed: number) => {
  const random = dice(seed)
  const done = new Set<string>()
  return {
    refusal: ({ slots, at }: Cell): boolean => {
      if (isFullRun || slots.length === 0) return true
      const stands = new Set(Object.values(at))
      // What an unknown id is answered is kept: hidden things are compared with it.
      const isCompared = stands.has('unknown') && (stands.size === 1 || stands.has('own') || stands.has('lab'))
      return isCompared || random.oneIn(stands.size === 1 ? thingsLeftOut : pairsLeftOut)
    },
    deed: ({ route, caller }: Cell): boolean => {
      const pair = `${route.name} ${caller}`
      if (isFullRun || !done.has(route.name)) {
        done.add(route.name)
        done.add(pair)
        return true
      }
      return !done.has(pair) ? random.oneIn(12) && done.add(pair) !== undefined : random.oneIn(deedsLeftOut)
    },
  }
}

const report = (t: ExecutionContext, mode: Mode, counts: Counts, seed: number): void => {
  const { cells, refusals, deeds, disagreements } = counts
  t.log(`${mode} server: ${cells} cells, ${refusals} refusals, ${deeds} deeds, ${disagreements.length} disagreements (seed ${seed})`)
  t.deepEqual(disagreements.slice(0, Number(process.env['H_MAX'] ?? 60)), [])
}

/** Registers the tests of a part of the routes, or of some of them, on a server of a mode. */
export const matrixTests = (mode: Mode, part: number, parts: number, isAsked: (route: MatrixRoute) => boolean = () => true): void => {
  const { seed } = dice()
  const keep = sampled(seed)
  test.serial(`part ${part + 1} of ${parts} of the matrix of a ${mode} server agrees with the oracle`, async t => {
    t.timeout(900_000)
    const world = await makeWorld(mode)
    t.teardown(() => world.stop())
    const routes = world.routes.filter(isAsked).filter((_, at) => at % parts === part)
    const counts = newCounts()
    await runRefusals(world, counts, routes, keep.refusal)
    await runDeeds(world, counts, routes, keep.deed)
    // Of a sample not every route has to have met what belongs together.
    const undone = routes.filter(({ name }) => isFullRun && !counts.done.has(name) && sendings[name]?.neverHere === undefined)
    counts.disagreements.push(...undone.map(({ name }) => `${name} never succeeded: its request proves nothing`))
    if (isFullRun) await noteCounts(`${mode} ${part + 1}/${parts}`, counts)
    report(t, mode, counts, seed)
  })
}
