import { fileURLToPath } from 'node:url'
import test from 'ava'
import { liveTests } from 'pounce/sdk/testing'
import { ok } from '../support/scene.ts'
import { until } from '../support/until.ts'
import { SeveralKernels } from './several-kernels.ts'

const { test: live, url } = liveTests(test, 'MONGODB', 'S3', 'ELASTICSEARCH')
const turns = fileURLToPath(new URL('./turns-plugin', import.meta.url))

interface Step {
  readonly pid: number
  readonly turn: string
}

const begin = (t: Parameters<typeof SeveralKernels.begin>[0]) => SeveralKernels.begin(t, url, 2, {}, [turns])

const stepsOf = (kernels: SeveralKernels, n: number): Promise<readonly Step[]> => ok(kernels.call(n, '/api/test/steps'))

/** Number of steps of a turn after a later turn had started. */
const late = (steps: readonly Step[]): number => {
  const begun: string[] = []
  let count = 0
  for (const { turn } of steps) {
    if (!begun.includes(turn)) begun.push(turn)
    else if (begun.at(-1) !== turn) count += 1
  }
  return count
}

/** The kernel that is in the middle of a turn, and the other one. */
const inTurn = async (kernels: SeveralKernels): Promise<readonly [busy: number, idle: number]> => {
  const seen = await until(
    'a turn to be in progress',
    () => stepsOf(kernels, 0),
    steps => steps.filter(({ turn }) => turn === steps.at(-1)?.turn).length > 3,
  )
  return kernels.at(0).pid === seen.at(-1)?.pid ? [0, 1] : [1, 0]
}

const tookOver = (kernels: SeveralKernels, idle: number): Promise<readonly Step[]> =>
  until(
    'the other kernel to take over',
    () => stepsOf(kernels, idle),
    steps => steps.at(-1)?.pid === kernels.at(idle).pid,
    60_000,
  )

live('work of a killed kernel is taken over by the other, and is never done by both at once', async t => {
  const kernels = await begin(t)
  const [busy, idle] = await inTurn(kernels)
  await kernels.end(busy, 'SIGKILL')
  t.is(late(await tookOver(kernels, idle)), 0)
})

live('a kernel paused during its work abandons it when resumed, because the other has taken over', async t => {
  const kernels = await begin(t)
  const [busy, idle] = await inTurn(kernels)
  kernels.at(busy).signal('SIGSTOP')
  const turn = (await stepsOf(kernels, idle)).at(-1)?.turn
  await tookOver(kernels, idle)
  kernels.at(busy).signal('SIGCONT')
  const now = (await stepsOf(kernels, idle)).at(-1)?.turn
  const all = await until(
    'the next turn with both kernels running',
    () => stepsOf(kernels, idle),
    steps => ![now, turn].includes(steps.at(-1)?.turn),
    60_000,
  )
  // A write that was in progress when it was paused may still complete.
  t.true(late(all) <= 1, `${late(all)} steps after the other had taken over`)
})
