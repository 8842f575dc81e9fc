import type { ExecutionContext, TestFn } from 'ava'
import { isFullRun } from 'pounce/sdk/testing'
import { type SeededRandom, sampleSeed, seededRandom } from '../support/seeded-random.ts'
import type { CallerName } from './callers.ts'
import type { Cell } from './cell.ts'
import { callerNames } from './cells.ts'
import { noteCounts } from './counts.ts'
import { type Counts, newCounts, runActions, runRefusals } from './matrix.ts'
import type { Mode } from './oracle/letters.ts'
import { requestContents } from './request-content.ts'
import type { MatrixRoute } from './routes.ts'
import { makeWorld } from './world.ts'

/** The usual run samples one in this many; a full run executes all. */
const callersLeftOut = 9
const thingsLeftOut = 6
const pairsLeftOut = 45
const actionsOfPair = 36
const otherActions = 144

/** What every sample includes, independent of the seed: each path of a route, each caller, each state. */
const namesIn = ({ address, caller, at }: Cell): readonly string[] => [
  `${address.method} ${address.path}`,
  `caller ${caller}`,
  ...new Set(Object.values(at).map(state => `state ${state}`)),
]

class Sample {
  readonly seed: number
  readonly #random: SeededRandom
  readonly #met = new Set<string>()
  readonly #pairs = new Map<string, boolean>()
  readonly #refusals = new Map<string, boolean>()
  readonly #possible = new Set<string>()
  readonly #requested = new Set<string>()

  constructor(mode: Mode) {
    // Different seeds per server, so that they receive requests for different resources.
    this.seed = sampleSeed + ['public', 'private', 'closed'].indexOf(mode)
    this.#random = seededRandom(this.seed)
  }

  /** Expected requests that have not been sent. */
  get left(): readonly string[] {
    return [...this.#possible].filter(name => !this.#requested.has(name))
  }

  /** Deterministic per cell, so that a request with a side effect can be identified. */
  refusal(cell: Cell): boolean {
    if (isFullRun) return true
    const key = `${cell.route.name} ${namesIn(cell)} ${JSON.stringify(cell.at)}`
    const kept = this.#refusals.get(key) ?? this.#isKept(cell)
    this.#refusals.set(key, kept)
    return kept
  }

  action({ route, caller }: Cell): boolean {
    if (isFullRun) return true
    const isPairNew = this.#isNew(`action ${route.name} ${caller}`)
    return this.#isNew(`action ${route.name}`) || this.#random.oneIn(isPairNew ? actionsOfPair : otherActions)
  }

  #isKept(cell: Cell): boolean {
    const { route, caller, slots, at } = cell
    const names = namesIn(cell)
    for (const name of names) this.#possible.add(name)
    const stands = new Set(Object.values(at))
    // Cells with unknown ids are kept: responses for hidden resources are compared with theirs.
    const isCompared = stands.has('unknown') && (stands.size === 1 || stands.has('own') || stands.has('lab'))
    const isDrawn =
      this.#isAsking(route.name, caller) &&
      (slots.length === 0 || isCompared || this.#random.oneIn(stands.size === 1 ? thingsLeftOut : pairsLeftOut))
    const isKept = isDrawn || names.some(name => !this.#requested.has(name))
    if (isKept) for (const name of names) this.#requested.add(name)
    return isKept
  }

  /** A sample of the callers of each route, at least one. */
  #isAsking(route: string, caller: CallerName): boolean {
    if (this.#isNew(`route ${route}`)) this.#pairs.set(`${route} ${this.#random.pick(callerNames)}`, true)
    const key = `${route} ${caller}`
    const found = this.#pairs.get(key) ?? this.#random.oneIn(callersLeftOut)
    this.#pairs.set(key, found)
    return found
  }

  #isNew(name: string): boolean {
    return !this.#met.has(name) && this.#met.add(name) !== undefined
  }
}

const report = (t: ExecutionContext, mode: Mode, counts: Counts, { seed, left }: Sample): void => {
  const { cells, refusals, actions, disagreements } = counts
  t.log(`${mode} server: ${cells} cells, ${refusals} refusals, ${actions} actions, ${disagreements.length} disagreements (seed ${seed})`)
  t.deepEqual(disagreements.slice(0, Number(process.env['H_MAX'] ?? 60)), [])
  t.deepEqual(left, [], 'requests never sent')
}

/** Registers the tests of one part of the routes, or of selected routes, on a server in a mode. */
export const matrixTests = (
  test: TestFn,
  mode: Mode,
  part: number,
  parts: number,
  isRequested: (route: MatrixRoute) => boolean = () => true,
): void => {
  const sample = new Sample(mode)
  test.serial(`part ${part + 1} of ${parts} of the matrix of a ${mode} server agrees with the oracle`, async t => {
    t.timeout(900_000)
    const world = await makeWorld(mode)
    t.teardown(() => world.stop())
    const routes = world.routes.filter(isRequested).filter((_, at) => at % parts === part)
    const counts = newCounts()
    await runRefusals(world, counts, routes, cell => sample.refusal(cell))
    await runActions(world, counts, routes, cell => sample.action(cell))
    // In a sample, not every route gets a combination of resources that belong together.
    const undone = routes.filter(({ name }) => isFullRun && !counts.done.has(name) && requestContents[name]?.neverHere === undefined)
    counts.disagreements.push(...undone.map(({ name }) => `${name} never succeeded: its request proves nothing`))
    if (isFullRun) await noteCounts(`${mode} ${part + 1}/${parts}`, counts)
    report(t, mode, counts, sample)
  })
}
