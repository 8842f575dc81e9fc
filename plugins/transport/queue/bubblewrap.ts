import { existsSync, lstatSync, readlinkSync } from 'node:fs'
import { delimiter, dirname, isAbsolute } from 'node:path'
import { failureOf, type Sandbox, type SandboxAccess, type SandboxSlot } from './sandbox.ts'

/** What programs need to run besides their own files: the linker, shared libraries, and fonts for drawing. */
const systemFolders = ['/usr/lib', '/usr/lib32', '/usr/lib64', '/usr/libexec', '/usr/local/lib', '/nix/store', '/gnu/store']
const linkedFolders = ['/lib', '/lib32', '/lib64', '/bin', '/sbin']
const systemData = [
  ...['/etc/ld.so.cache', '/etc/ld.so.conf', '/etc/ld.so.conf.d', '/etc/alternatives', '/etc/localtime', '/usr/share/zoneinfo'],
  ...['/etc/fonts', '/usr/share/fonts', '/usr/local/share/fonts', '/usr/share/fontconfig', '/var/cache/fontconfig'],
]

const readOnly = (paths: readonly string[]): readonly string[] =>
  paths.filter(path => existsSync(path)).flatMap(path => ['--ro-bind', path, path])

/** `/lib` is a link into `/usr` on most systems and a folder on others. */
const linked = (path: string): readonly string[] => {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats?.isSymbolicLink()) return ['--symlink', readlinkSync(path), path]
  return stats && path.startsWith('/lib') ? ['--ro-bind', path, path] : []
}

/** Where programs that an extractor may start are located. */
const programFolders = (): readonly string[] => [
  ...new Set([...(process.env['PATH'] ?? '').split(delimiter).filter(isAbsolute), '/usr/bin', '/bin']),
]

// The process group that the server makes is a session of its own, without a terminal: `--new-session` would only hide it from the group's end.
const isolation = ['--unshare-all', '--die-with-parent', '--cap-drop', 'ALL']
const withoutFurtherNamespaces = ['--unshare-user', '--disable-userns']

/** Only what is listed here is visible. Order matters: a later mount hides an earlier one. */
function argumentsFor({ readable, input, work, needs }: SandboxAccess, extra: readonly string[]): readonly string[] {
  const system = [...readOnly(systemFolders), ...linkedFolders.flatMap(linked), ...readOnly(systemData)]
  // A link among them stands for what `/usr/bin` already provides.
  const programs = needs.childProcesses
    ? readOnly(programFolders().filter(path => !lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()))
    : []
  const network = needs.network ? ['--share-net', ...readOnly(['/etc/resolv.conf', '/etc/hosts', '/etc/nsswitch.conf', '/etc/ssl'])] : []
  const devices = ['--proc', '/proc', '--dev', '/dev', '--remount-ro', '/dev']
  const own = [...readOnly([process.execPath, ...readable, input]), '--bind', work, work]
  return [...isolation, ...extra, ...system, ...programs, ...network, ...devices, ...own, '--remount-ro', '/', '--chdir', work, '--']
}

/** Linux namespaces via bubblewrap: unlisted files, other processes and the network are invisible to the process. */
export class Bubblewrap implements Sandbox {
  readonly kind = 'bubblewrap'
  readonly gaps: readonly string[] = []
  readonly diesWithServer = true
  readonly #extra: readonly string[]

  private constructor(extra: readonly string[]) {
    this.#extra = extra
  }

  /** The sandbox, or the reason why this system has none. */
  static async probe(): Promise<Bubblewrap | string> {
    if (process.platform !== 'linux') return 'bubblewrap is for Linux only'
    const folder = dirname(process.execPath)
    const access: SandboxAccess = { readable: [], input: folder, work: folder, needs: {} }
    const tried = (extra: readonly string[]) => failureOf(['bwrap', ...argumentsFor(access, extra), process.execPath, '--version'])
    // Older releases cannot forbid nested namespaces.
    if ((await tried(withoutFurtherNamespaces)) === undefined) return new Bubblewrap(withoutFurtherNamespaces)
    const failure = await tried([])
    return failure === undefined ? new Bubblewrap([]) : failure
  }

  slot(): SandboxSlot {
    return { prefix: access => ['bwrap', ...argumentsFor(access, this.#extra)], release: () => undefined }
  }
}
