import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import type { ExecutionContext, TestFn } from 'ava'
import fc from 'fast-check'
import { type BootOptions, bootForTest, type TestServer } from 'pounce/sdk/testing'
import { problemsOf } from '../support/doctor.ts'
import { newPerson } from '../support/people.ts'
import { meet } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'
import { collectionOperations } from './collection-operations.ts'
import { compare, compareArchives, countsOf } from './compare.ts'
import { copyDataset } from './copy-operation.ts'
import { datasetOperations } from './dataset-operations.ts'
import { fileOperations } from './file-operations.ts'
import { Rights } from './model-rights.ts'
import { emptyWorld, type Step, type World } from './model-world.ts'
import { placementOperations } from './placement-operations.ts'
import { tryWhatIsRefused } from './refusals.ts'
import { spaceOperations } from './space-operations.ts'

const operations: Readonly<Record<string, (world: World, step: Step) => Promise<void>>> = {
  ...spaceOperations,
  ...collectionOperations,
  ...datasetOperations,
  ...fileOperations,
  ...placementOperations,
  copyDataset,
}

/** Operations that create resources for the others: a world starts with them, and they are chosen more often. */
const makers = ['makeSpace', 'share', 'share', 'makeCollection', 'makeDataset', 'makeDataset', 'makeFolder', 'uploadFile', 'uploadFile']
const harmless = Object.keys(operations).filter(name => !/^(?:delete|discard|empty|detach|removeSeveral)/.test(name))
const number = fc.nat({ max: 9_999 })
const stepOf = (...names: readonly string[]): fc.Arbitrary<Step> =>
  fc.record({ op: fc.constantFrom(...names), who: number, a: number, b: number, c: number })
const beginning = stepOf(...makers)
const step = stepOf(...Object.keys(operations), ...harmless, ...makers)

const numberFrom = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise)

/**
 * The size of a run: `POUNCE_TEST_MODEL_MINUTES` of sequences instead of a few, `POUNCE_TEST_MODEL_STEPS` steps in each, and `POUNCE_TEST_SEED` to
 * reproduce a run.
 */
const extent = () => ({
  minutes: numberFrom('POUNCE_TEST_MODEL_MINUTES', 0),
  steps: numberFrom('POUNCE_TEST_MODEL_STEPS', 40),
  seed: numberFrom('POUNCE_TEST_SEED', Math.floor(Math.random() * 2 ** 31)),
})

type People = Parameters<typeof emptyWorld>[2]

const everybody = async (server: TestServer): Promise<People> => {
  const [ann, bob, cyd] = await Promise.all([newPerson(server, 'ann'), newPerson(server, 'bob'), newPerson(server, 'cyd')])
  return { ann, bob, cyd, nobody: { id: '', call: server.as() } }
}

/** Deletes everything in a world, as a server admin in superadmin mode. Afterwards the totals must be the same as before the world. */
const clearAway = async (world: World): Promise<void> => {
  const { state, admin, server } = world
  const remove = (path: string): Promise<unknown> => admin(`${path}?superAdmin=true`, { method: 'DELETE' })
  for (const file of state.files) if (!file.isGone) await remove(`/api/files/${file.id}`)
  for (const kind of ['datasets', 'collections'] as const) {
    for (const one of state[kind]) {
      if (one.isGone) continue
      if (!one.isTrashed) await remove(`/api/${kind}/${one.id}`)
      await remove(`/api/${kind}/${one.id}`)
    }
  }
  for (const space of state.spaces) if (!space.isGone) await remove(`/api/spaces/${space.id}`)
  await server.drained()
}

const lookEvery = 12

const play = async (world: World, steps: readonly Step[], problems: object): Promise<void> => {
  const before = await countsOf(world)
  try {
    for (const [at, one] of steps.entries()) {
      await operations[one.op]?.(world, one)
      await world.server.drained()
      if (at % lookEvery === lookEvery - 1) await compare(world, before)
    }
    await tryWhatIsRefused(world)
    await compare(world, before)
    await compareArchives(world)
    assert.deepEqual(await problemsOf(world.server), problems)
  } finally {
    await clearAway(world)
  }
  assert.deepEqual(await problemsOf(world.server), problems)
  const isAsBefore = (now: object): boolean => isDeepStrictEqual(now, before)
  await until('the totals to be as before once everything is deleted', () => countsOf(world), isAsBefore, 5_000)
}

/** Runs random sequences; fails with the shortest one found for which the server and the model differ. */
const explore = async (t: ExecutionContext, server: TestServer, rights: Rights): Promise<void> => {
  const { minutes, steps, seed } = extent()
  const people = await everybody(server)
  await meet(server, people.ann, people.bob, people.cyd)
  // The space in which they met does not exist.
  const problems = await problemsOf(server)
  let played = 0
  let requests = 0
  let done = 0
  let story: readonly string[] = []
  const made = fc.array(beginning, { maxLength: 20, minLength: 20 })
  const rest = fc.array(step, { maxLength: steps, minLength: steps, size: 'max' })
  const property = fc.asyncProperty(made, rest, async (first, then) => {
    const world = emptyWorld(server, rights, people)
    try {
      await play(world, [...first, ...then], problems)
      played += 1
      requests += world.story.length
      done += world.story.filter(line => line.endsWith('200')).length
    } catch (error) {
      story = world.story
      throw error
    }
  })
  // The limit also ends shrinking.
  const limits = { numRuns: minutes > 0 ? 1_000_000 : 2, interruptAfterTimeLimit: Math.max(minutes, 1) * 60_000 }
  const outcome = await fc.check(property, { seed, ...limits, markInterruptAsFailure: false })
  t.log(`seed ${seed}: ${played} sequences, ${requests} changes requested, ${done} made`)
  t.true(played > 0 || outcome.failed)
  const text = story.map(line => `  ${line}`).join('\n')
  t.is(outcome.counterexample, null, `POUNCE_TEST_SEED=${seed}: ${String(outcome.errorInstance)}\n${text}`)
}

/** The model test of resources, on a public server and on a private one. */
export const resourcesModel = (test: TestFn, options: (t: ExecutionContext) => BootOptions | Promise<BootOptions> = () => ({})): void => {
  for (const isPrivate of [true, false]) {
    test(`on a ${isPrivate ? 'private' : 'public'} server random changes by several people agree with the model`, async t => {
      t.timeout((extent().minutes + 4) * 60_000)
      const { config, ...more } = await options(t)
      const server = await bootForTest({ t, ...more, config: { ...config, access: { private: isPrivate } } })
      await explore(t, server, new Rights(isPrivate))
    })
  }
}
