import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Log } from 'pounce/sdk'
import { Bubblewrap } from './bubblewrap.ts'
import { OwnUser } from './own-user.ts'
import { failureOf, type Sandbox, type SandboxSlot } from './sandbox.ts'

export type SandboxMode = 'auto' | 'required' | 'off'

const allGaps = 'files, the network and other processes, for native code that a hostile file has taken over'
const runner = fileURLToPath(new URL('./runner.ts', import.meta.url))

/** No isolation by the operating system: Node's permission model alone. */
class PermissionModelOnly implements Sandbox {
  readonly kind = 'none'
  readonly gaps = [allGaps]
  readonly diesWithServer: boolean
  readonly #prefix: readonly string[]

  constructor(prefix: readonly string[]) {
    this.#prefix = prefix
    this.diesWithServer = prefix.length > 0
  }

  /** `setpriv` of util-linux, where installed, ends the process with the server and keeps it from set-uid programs. */
  static async probe(): Promise<PermissionModelOnly> {
    const prefix = ['setpriv', '--pdeathsig=KILL', '--no-new-privs', '--']
    const failure = process.platform === 'linux' ? await failureOf([...prefix, process.execPath, '--version']) : 'not Linux'
    return new PermissionModelOnly(failure === undefined ? prefix : [])
  }

  slot(): SandboxSlot {
    return { prefix: () => this.#prefix, release: () => undefined }
  }
}

export interface SandboxOptions {
  readonly mode: SandboxMode
  readonly firstUid: number
  readonly dataFolder: string
  readonly log: Log
}

/** The best sandbox that this system supports. Throws when one is required and none is complete. */
export async function openSandbox({ mode, firstUid, dataFolder, log }: SandboxOptions): Promise<Sandbox> {
  if (mode === 'off') return PermissionModelOnly.probe()
  const bubblewrap = await Bubblewrap.probe()
  if (typeof bubblewrap !== 'string') return logged(bubblewrap, log)
  // The data folder is accessible to the server only, and so is this one.
  const folder = join(tmpdir(), `pounce-extractors-${createHash('sha256').update(dataFolder).digest('hex').slice(0, 16)}`)
  const user = await OwnUser.probe({ folder, dataFolder, code: runner, firstUid })
  if (typeof user !== 'string' && user.gaps.length === 0) return logged(user, log)
  const why = `bubblewrap: ${bubblewrap}; user of its own: ${typeof user === 'string' ? user : `does not isolate ${user.gaps.join(', ')}`}`
  if (mode === 'required') {
    if (typeof user !== 'string') await user.dispose()
    const advice = 'Install bubblewrap (apt-get install bubblewrap) and allow user namespaces, or set transport.queue.sandbox to "auto"'
    throw new Error(`transport.queue.sandbox is "required", but no extractor sandbox is available on this system. ${advice}. Tried: ${why}`)
  }
  const sandbox = typeof user === 'string' ? await PermissionModelOnly.probe() : user
  log.warn('Extractors run without a complete operating system sandbox', { sandbox: sandbox.kind, open: sandbox.gaps, why })
  return sandbox
}

const logged = (sandbox: Sandbox, log: Log): Sandbox => {
  log.info('Extractors run in an operating system sandbox', { sandbox: sandbox.kind })
  return sandbox
}
