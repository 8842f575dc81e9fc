import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Log } from 'pounce/sdk'
import type { FromProcess, RunRequest, ToProcess } from './messages.ts'
import { removeFolder } from './remove-folder.ts'
import { RunFailure } from './run-failure.ts'

/** Limits of one run, and who hears of it. */
export interface RunLimits {
  readonly timeoutMs: number
  /** Aborted: the process is ended, and the run rejects with the signal's reason. */
  readonly signal: AbortSignal
  progress(message: string): void
}

/** What a new process is given. */
export interface ProcessOptions {
  /** Its home, made for it and removed with it. */
  readonly folder: string
  /** The folder below which it may write: its home and the folders of runs. */
  readonly writable: string
  readonly memoryMb: number
  /** What it may hold beyond its JavaScript heap. */
  readonly nativeMemoryMb: number
  readonly log: Log
}

interface Current {
  resolve(output: string): void
  reject(error: unknown): void
  progress(message: string): void
}

const runner = fileURLToPath(new URL('./runner.ts', import.meta.url))
const inherited = ['PATH', 'LANG', 'LC_ALL', 'TZ', 'LD_LIBRARY_PATH', 'SystemRoot']

/** It reads what it likes and writes in one folder: a mistake in an extractor cannot harm stored bytes. */
const rights = (writable: string): readonly string[] => [
  '--permission',
  '--allow-fs-read=*',
  `--allow-fs-write=${join(writable, '*')}`,
  '--allow-addons',
  '--allow-worker',
  '--allow-child-process',
  '--disable-warning=SecurityWarning',
  '--disable-warning=ExperimentalWarning',
]

const memoryLookMs = 250
const abortGraceMs = 300
const lastWordsMs = 500

/** A child process that runs extractors, one at a time. It has no secrets in its environment and ends when the server does. */
export class ExtractorProcess {
  readonly memoryMb: number
  runs = 0
  #child: ChildProcess
  #folder: string
  #residentMb: number
  #log: Log
  #current: Current | undefined
  #isReady = false
  #isSpent = false
  #errors = ''
  /** V8 says so before a stack that may be longer than what is kept of its words. */
  #isOutOfHeap = false
  /** Why it was ended from here. */
  #endedFor: RunFailure | undefined
  #exited: Promise<unknown>

  private constructor(child: ChildProcess, { folder, memoryMb, nativeMemoryMb, log }: ProcessOptions) {
    this.#log = log
    this.#child = child
    this.#folder = folder
    this.memoryMb = memoryMb
    this.#residentMb = memoryMb + nativeMemoryMb
    this.#exited = once(child, 'exit').then(
      () => this.#left(),
      error => this.#left(error),
    )
    child.on('error', () => this.#kill())
    child.on('message', (message: FromProcess) => this.#heard(message))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#isOutOfHeap ||= `${this.#errors.slice(-100)}${text}`.includes('heap out of memory')
      this.#errors = (this.#errors + text).slice(-4000)
    })
  }

  /** Starts a process with a limited JavaScript heap. */
  static async start(options: ProcessOptions): Promise<ExtractorProcess> {
    const { folder, writable, memoryMb } = options
    await mkdir(folder, { recursive: true })
    const below = await realpath(writable)
    const env: NodeJS.ProcessEnv = { HOME: folder, TMPDIR: folder }
    for (const name of inherited) if (process.env[name] !== undefined) env[name] = process.env[name]
    const child = fork(runner, [String(process.pid)], {
      cwd: folder,
      env,
      execArgv: [`--max-old-space-size=${memoryMb}`, ...rights(below)],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      // A process group of its own, so that its children end with it and a Ctrl-C reaches the server alone.
      detached: true,
    })
    // Before anything is awaited: it may fail to start at once.
    const started = new ExtractorProcess(child, options)
    if (child.pid !== undefined) await preferForKilling(child.pid)
    return started
  }

  /** False once it has ended or is about to: another run must not be given to it. */
  get isUsable(): boolean {
    return !this.#isSpent && this.#child.exitCode === null && this.#child.signalCode === null && this.#child.connected
  }

  /** Runs one extractor to its end. Resolves to the JSON text of its output, rejects with a `RunFailure`. */
  async run(request: RunRequest, limits: RunLimits): Promise<string> {
    limits.signal.throwIfAborted()
    this.runs += 1
    const timer = setTimeout(() => this.#end(`It took longer than ${limits.timeoutMs / 1000} s and was stopped`), limits.timeoutMs)
    const memory = setInterval(() => void this.#checkMemory(), memoryLookMs)
    const onAbort = (): void => void this.#abort(limits.signal.reason)
    limits.signal.addEventListener('abort', onAbort, { once: true })
    try {
      return await new Promise<string>((resolve, reject) => {
        this.#current = { resolve, reject, progress: limits.progress }
        this.#send({ type: 'run', request })
      })
    } finally {
      clearTimeout(timer)
      clearInterval(memory)
      limits.signal.removeEventListener('abort', onAbort)
      this.#current = undefined
    }
  }

  /** Ends it at once, with all that it has started. Resolves when it is gone. */
  async stop(): Promise<void> {
    this.#kill()
    await this.#exited
  }

  #heard(message: FromProcess): void {
    if (message.type === 'ready') this.#isReady = true
    else if (message.type === 'progress') this.#current?.progress(message.message)
    else if (message.type === 'output') this.#current?.resolve(message.output)
    else {
      this.#isSpent ||= message.isLast
      this.#current?.reject(new RunFailure('refused', message.message))
    }
  }

  async #abort(reason: unknown): Promise<void> {
    const current = this.#current
    this.#isSpent = true
    this.#send({ type: 'abort' })
    await Promise.race([this.#exited, pause(abortGraceMs)])
    this.#kill()
    current?.reject(reason)
  }

  #end(why: string): void {
    this.#endedFor = new RunFailure('killed', why)
    this.#isSpent = true
    this.#kill()
  }

  async #checkMemory(): Promise<void> {
    const residentMb = await residentMbOf(this.#child.pid)
    if (residentMb > this.#residentMb) this.#end(`It took more than ${this.#residentMb} MiB of memory and was stopped`)
  }

  async #left(error?: Error): Promise<void> {
    // Its last words may still be on their way; what it started may hold the other end open, so the wait has a limit.
    const { stderr } = this.#child
    if (!error && stderr && !stderr.closed) await Promise.race([new Promise(said => stderr.once('close', said)), pause(lastWordsMs)])
    this.#current?.reject(error ? new RunFailure('fault', 'The extractor process could not be started', { cause: error }) : this.#whyLeft())
    // What it started may outlive it when it ended by itself.
    this.#kill()
    await removeFolder(this.#folder, this.#log)
  }

  #whyLeft(): RunFailure {
    if (this.#endedFor) return this.#endedFor
    if (this.#isOutOfHeap) {
      return new RunFailure('killed', `It took more than ${this.memoryMb} MiB of memory and was stopped`)
    }
    const how = this.#child.signalCode ?? `exit code ${this.#child.exitCode}`
    if (this.#isReady) return new RunFailure('killed', `Its process ended without a result (${how})`, { cause: this.#errors })
    return new RunFailure('fault', `The extractor process did not start (${how})`, { cause: this.#errors })
  }

  #send(message: ToProcess): void {
    // A process that has just ended is reported by its exit.
    if (this.#child.connected) this.#child.send(message, error => error && this.#kill())
  }

  #kill(): void {
    const { pid } = this.#child
    if (pid === undefined) return
    try {
      process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && (error.code === 'ESRCH' || error.code === 'EPERM'))) throw error
    }
  }
}

/** When the machine runs out of memory the extractor goes first, not the server. Not every system can be told so. */
async function preferForKilling(pid: number): Promise<void> {
  if (process.platform === 'linux') await writeFile(`/proc/${pid}/oom_score_adj`, '800').catch(() => undefined)
}

/** Resident memory of a process in MiB; 0 when it cannot be told. */
async function residentMbOf(pid: number | undefined): Promise<number> {
  if (process.platform !== 'linux' || pid === undefined) return 0
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024
}
