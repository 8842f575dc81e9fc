import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { ExtractorNeeds } from 'pounce/sdk'

/** What an extractor process may reach. */
export interface SandboxAccess {
  /** Files and folders that it may read: code, libraries and what it has declared. */
  readonly readable: readonly string[]
  /** The folder with its input, to read. */
  readonly input: string
  /** The folder that it may write in. */
  readonly work: string
  readonly needs: ExtractorNeeds
}

/** One process's place in a sandbox. */
export interface SandboxSlot {
  /** The user that the process runs as, and that its folders are given to, when that is not the server's. */
  readonly uid?: number
  /** What comes before the program and its arguments. */
  prefix(reach: SandboxAccess): readonly string[]
  /** The process has ended. */
  release(): void
}

/** How the operating system holds extractor processes, over and above Node's permission model. */
export interface Sandbox {
  readonly kind: 'bubblewrap' | 'user' | 'none'
  /** What it does not hold, for the operator. Empty: it holds everything. */
  readonly gaps: readonly string[]
  /** Where the folders of processes have to be, when the data folder will not do. */
  readonly folder?: string
  /** Whether the system kills the process when the server ends. */
  readonly diesWithServer: boolean
  /** Throws when there is no place left. */
  cell(): SandboxSlot
  /** No process is left: removes what it keeps outside of the data folder. */
  dispose?(): Promise<void>
}

const probeLimitMs = 20_000

/** Runs a program to find out whether it does what it should. Undefined when it does, else why not. */
export async function failureOf([program = '', ...words]: readonly string[]): Promise<string | undefined> {
  try {
    await promisify(execFile)(program, words, { timeout: probeLimitMs, killSignal: 'SIGKILL', env: { PATH: process.env['PATH'] } })
    return undefined
  } catch (error) {
    if (!(error instanceof Error)) return String(error)
    if ('code' in error && error.code === 'ENOENT') return `${program} is not installed`
    const said = 'stderr' in error && typeof error.stderr === 'string' ? error.stderr.trim() : ''
    return (said.split('\n').at(-1) || error.message).slice(0, 300)
  }
}
