import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { ExtractorNeeds } from 'pounce/sdk'

/** Access rights of an extractor process. */
export interface SandboxAccess {
  /** Files and folders that it may read: code, libraries and what it has declared. */
  readonly readable: readonly string[]
  /** The folder with its input, read-only. */
  readonly input: string
  /** The folder that it may write to. */
  readonly work: string
  readonly needs: ExtractorNeeds
}

/** The sandbox of one process. */
export interface SandboxSlot {
  /** The user that the process runs as, and that its folders are given to, when that is not the server's. */
  readonly uid?: number
  /** The command prefix before the program and its arguments. */
  prefix(access: SandboxAccess): readonly string[]
  /** Called when the process has ended. */
  release(): void
}

/** How the operating system isolates extractor processes, in addition to Node's permission model. */
export interface Sandbox {
  readonly kind: 'bubblewrap' | 'user' | 'none'
  /** What is not isolated, for the operator. Empty when isolation is complete. */
  readonly gaps: readonly string[]
  /** Where the folders of processes have to be, when the data folder is unsuitable. */
  readonly folder?: string
  /** Whether the system kills the process when the server ends. */
  readonly diesWithServer: boolean
  /** Throws when no slot is left. */
  slot(): SandboxSlot
  /** Called when no process is left: removes its files outside of the data folder. */
  dispose?(): Promise<void>
}

const probeLimitMs = 20_000

/** Runs a probe program. Undefined when it succeeds, otherwise the reason. */
export async function failureOf([program = '', ...args]: readonly string[]): Promise<string | undefined> {
  try {
    await promisify(execFile)(program, args, { timeout: probeLimitMs, killSignal: 'SIGKILL', env: { PATH: process.env['PATH'] } })
    return undefined
  } catch (error) {
    if (!(error instanceof Error)) return String(error)
    if ('code' in error && error.code === 'ENOENT') return `${program} is not installed`
    const reason = 'stderr' in error && typeof error.stderr === 'string' ? error.stderr.trim() : ''
    return (reason.split('\n').at(-1) || error.message).slice(0, 300)
  }
}
