import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { memoryOf, startPounce } from './servers.ts'
import { median, type Row, spread } from './table.ts'

/** Long enough for what a start leaves to do, short of anything periodic. */
const idleMs = 5000

/** Workload 13: from the start of the process to its first answer on a data folder that exists, and memory when nothing happens. */
export const start = async (rounds: number): Promise<readonly Row[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-bench-'))
  const started: number[] = []
  const idle: number[] = []
  try {
    await (await startPounce({ folder })).stop()
    for (let round = 0; round < rounds; round += 1) {
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
    {
      workload: '13 · cold start to first 200',
      subject: 'Pounce, all default plugins',
      figure: spread(started, 'ms'),
      ratio: median(started),
      goal: 350,
      isCeiling: true,
    },
    {
      workload: '13 · idle memory',
      subject: 'Pounce, all default plugins',
      figure: spread(idle, 'MiB'),
      ratio: median(idle),
      goal: 110,
      isCeiling: true,
    },
  ]
}
