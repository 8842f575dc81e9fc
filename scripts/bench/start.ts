import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { memoryOf, startPounce } from './servers.ts'
import { median, type Row, spread } from './table.ts'

/** Long enough for work that is deferred after the start, too short for periodic tasks. */
const idleMs = 5000

/** Milliseconds of a Node process with an empty program. */
export const emptyStart = async (): Promise<number> => {
  const begun = performance.now()
  await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit')
  return performance.now() - begun
}

/** Workload 13: time from process start to the first response on an existing data folder, and idle memory. */
export const start = async (rounds: number): Promise<readonly Row[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-bench-'))
  const empty: number[] = []
  const started: number[] = []
  const idle: number[] = []
  try {
    await (await startPounce({ folder })).stop()
    for (let round = 0; round < rounds; round += 1) {
      empty.push(await emptyStart())
      const server = await startPounce({ folder })
      started.push(server.startedMs)
      await pause(idleMs)
      idle.push(await memoryOf(server.pid))
      await server.stop()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return [
    { workload: '13 · cold start to first 200', subject: 'node -e 0', figure: spread(empty, 'ms') },
    {
      workload: '13 · cold start to first 200',
      subject: 'Pounce, all default plugins',
      figure: spread(started, 'ms'),
      ratio: median(started),
      goal: 300,
      isCeiling: true,
    },
    {
      workload: '13 · cold start to first 200',
      subject: 'Pounce, against node -e 0',
      figure: '',
      ratio: median(started) / median(empty),
      goal: 4,
      isCeiling: true,
    },
    {
      workload: '13 · idle memory',
      subject: 'Pounce, all default plugins',
      figure: spread(idle, 'MiB'),
      ratio: median(idle),
      goal: 90,
      isCeiling: true,
    },
  ]
}
