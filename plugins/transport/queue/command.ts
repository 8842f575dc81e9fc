import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Sandbox, SandboxAccess, SandboxSlot } from './sandbox.ts'

const runner = fileURLToPath(new URL('./runner.ts', import.meta.url))
const inherited = ['PATH', 'LANG', 'LC_ALL', 'TZ', 'LD_LIBRARY_PATH', 'SystemRoot']
const maxOpenFiles = 512

/** What the command of a process depends on, besides its access rights. */
export interface CommandOptions {
  readonly sandbox: Sandbox
  readonly memoryMb: number
  readonly maxOutputBytes: number
}

/** The program and its arguments that start an extractor process: limits, the sandbox of the system, Node with few rights. */
export function commandFor(slot: SandboxSlot, access: SandboxAccess, options: CommandOptions): readonly string[] {
  const watched = options.sandbox.diesWithServer ? [] : [String(process.pid)]
  const node = [process.execPath, ...flagsFor(access, options), runner, JSON.stringify(access.needs), ...watched]
  return [...limitsOf(options), ...slot.prefix(access), ...node]
}

/** Nothing of the server's environment except what programs need to run at all. */
export function environmentIn(work: string): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { HOME: work, TMPDIR: work }
  for (const name of inherited) if (process.env[name] !== undefined) env[name] = process.env[name]
  return env
}

const recursively = (path: string): readonly string[] => (statSync(path).isDirectory() ? [path, join(path, '*')] : [path])

/** Node's permission model: what JavaScript may do inside the process. */
function flagsFor({ readable, input, work, needs }: SandboxAccess, { memoryMb, sandbox }: CommandOptions): readonly string[] {
  return [
    `--max-old-space-size=${memoryMb}`,
    '--permission',
    ...[runner, ...readable, input, work]
      .filter(existsSync)
      .flatMap(recursively)
      .map(path => `--allow-fs-read=${path}`),
    `--allow-fs-write=${join(work, '*')}`,
    ...(needs.nativeAddons ? ['--allow-addons'] : []),
    ...(needs.childProcesses ? ['--allow-child-process'] : []),
    // For the pipe to the server, on releases whose permission model includes the network; dropped like the thread below.
    ...(process.allowedNodeEnvironmentFlags.has('--allow-net') ? ['--allow-net'] : []),
    // For the thread that monitors the server; dropped before an extractor is loaded.
    ...(needs.workerThreads || !sandbox.diesWithServer ? ['--allow-worker'] : []),
    '--disable-sigusr1',
    '--disable-warning=SecurityWarning',
    '--disable-warning=ExperimentalWarning',
  ]
}

/** System limits for each process, inherited by its children: file size, open files, and no core dumps. */
function limitsOf({ maxOutputBytes }: CommandOptions): readonly string[] {
  if (process.platform === 'win32') return []
  const blocks = Math.ceil(maxOutputBytes / 512)
  return ['/bin/sh', '-c', `unset PWD; ulimit -c 0; ulimit -f ${blocks}; ulimit -n ${maxOpenFiles}; exec "$@"`, 'sh']
}
