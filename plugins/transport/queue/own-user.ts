import { chmod, lstat, mkdir, rm } from 'node:fs/promises'
import { failureOf, type Sandbox, type SandboxSlot } from './sandbox.ts'

const namespaces = ['unshare', '--mount', '--mount-proc', '--net', '--ipc', '--pid', '--fork', '--kill-child=SIGKILL', '--']
const withNetwork = namespaces.filter(word => word !== '--net')

/** Without groups, capabilities or a way to regain them; killed when its parent ends. */
const asUser = (uid: number): readonly string[] => [
  ...['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--no-new-privs', '--bounding-set=-all', '--inh-caps=-all'],
  ...['--pdeathsig=KILL', '--'],
]
const untilServerEnds = ['setpriv', '--pdeathsig=KILL', '--']
const threadsAndProcesses = ['/bin/sh', '-c', 'ulimit -u 256 2>/dev/null || ulimit -p 256; exec "$@"', 'sh']

/** What the probe does as the other user: read our code, and fail to enter the data folder. */
const probeScript = `
  const { accessSync, constants } = require('node:fs')
  const [code, data] = process.argv.slice(1)
  try { accessSync(code, constants.R_OK) } catch { console.error('other users may not read ' + code); process.exit(1) }
  try { accessSync(data, constants.X_OK) } catch { process.exit(0) }
  console.error('other users may enter ' + data + ', its mode should be 700')
  process.exit(1)
`

/** A separate user for each process, for a server that runs as root where bubblewrap is not available. */
export class OwnUser implements Sandbox {
  readonly kind = 'user'
  readonly gaps: readonly string[]
  readonly folder: string
  readonly diesWithServer = true
  readonly #firstUid: number
  readonly #taken = new Set<number>()

  private constructor(folder: string, firstUid: number, gaps: readonly string[]) {
    this.folder = folder
    this.#firstUid = firstUid
    this.gaps = gaps
  }

  /** The sandbox, or why this system has none. `code` is a file that its processes read, `folder` a place that other users can get to. */
  static async probe(options: {
    readonly folder: string
    readonly dataFolder: string
    readonly code: string
    readonly firstUid: number
  }): Promise<OwnUser | string> {
    const { folder, dataFolder, code, firstUid } = options
    if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'a user of its own needs a server that runs as root on Linux'
    const existing = await lstat(folder).catch(() => undefined)
    if (existing && (!existing.isDirectory() || existing.uid !== 0)) return `${folder} belongs to another user`
    // Left by an earlier run that did not shut down cleanly.
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
    await mkdir(folder)
    await chmod(folder, 0o711)
    const probe = [...asUser(firstUid), process.execPath, '-e', probeScript, code, dataFolder]
    if ((await failureOf([...namespaces, ...probe])) === undefined) return new OwnUser(folder, firstUid, [])
    const failure = await failureOf(probe)
    if (failure !== undefined) {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 })
      return failure
    }
    return new OwnUser(folder, firstUid, ['the network, and signals within its own user'])
  }

  slot(): SandboxSlot {
    let uid = this.#firstUid
    while (this.#taken.has(uid)) uid += 1
    this.#taken.add(uid)
    const inNamespaces = this.gaps.length === 0
    return {
      uid,
      prefix: ({ needs }) => [
        ...untilServerEnds,
        ...threadsAndProcesses,
        ...(inNamespaces ? (needs.network ? withNetwork : namespaces) : []),
        ...asUser(uid),
      ],
      release: () => this.#taken.delete(uid),
    }
  }

  async dispose(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true, maxRetries: 3 })
  }
}
