import { setTimeout as pause } from 'node:timers/promises'
import { memoryOf, type Server } from './servers.ts'

/** The peak increase of resident memory while `run` is active, in MiB. */
export const growthDuring = async <T>(
  server: Server,
  run: () => Promise<T>,
): Promise<{ readonly result: T; readonly growthMb: number }> => {
  const before = await memoryOf(server.pid)
  let peak = before
  let isRunning = true
  const watch = (async () => {
    while (isRunning) {
      peak = Math.max(peak, await memoryOf(server.pid))
      await pause(20)
    }
  })()
  const result = await run()
  isRunning = false
  await watch
  return { result, growthMb: peak - before }
}
