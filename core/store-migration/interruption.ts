import { NoSpace, Unavailable } from 'pounce/sdk'
import type { Kernel } from '../kernel/kernel.ts'
import { StartupError } from '../kernel/startup-error.ts'

/** The opened plugins of a kernel that do not respond. */
const unavailableOf = async (kernel: Kernel, side: 'source' | 'target'): Promise<readonly string[]> =>
  (await kernel.readiness()).plugins.flatMap(({ id, ok }) => (ok ? [] : [`${id} of the ${side} does not respond`]))

/** For outages and full disks: an error that names the stores that do not respond, and how to continue. Other errors are returned as they are. */
export async function interruptionBy(error: unknown, source: Kernel, target: Kernel): Promise<unknown> {
  if (error instanceof NoSpace)
    return new StartupError('There is no space left in the target. The migration is not complete: run the command again to continue it', {
      cause: error,
    })
  if (!(error instanceof Unavailable)) return error
  const causes = [...(await unavailableOf(source, 'source')), ...(await unavailableOf(target, 'target'))]
  const what = causes.length === 0 ? error.message : causes.join(', ')
  return new StartupError(`${what}. The migration is not complete: run the command again to continue it`, { cause: error })
}
