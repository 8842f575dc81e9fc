import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { ExtractorNeeds, Log } from 'pounce/sdk'
import { defaultJsonLimits, parseJson } from 'pounce/sdk/kit'
import { Channel, maxLineCharacters } from './channel.ts'
import { commandFor, environmentIn } from './command.ts'
import { type FromProcess, messageIn, type RunLimits, type RunRequest } from './messages.ts'
import { ProcessFolder } from './process-folder.ts'
import { excessOf, preferForKilling, usageOf } from './process-usage.ts'
import { RunFailure, thrown } from './run-failure.ts'
import type { Sandbox, SandboxSlot } from './sandbox.ts'

/** What a new process is given. */
export interface ProcessOptions {
  /** Its own folder, created for it and deleted with it. */
  readonly folder: string
  readonly sandbox: Sandbox
  /** Files and folders that it may read besides its input. */
  readonly readable: readonly string[]
  readonly needs: ExtractorNeeds
  readonly memoryMb: number
  /** Maximum memory beyond its JavaScript heap. */
  readonly nativeMemoryMb: number
  /** Maximum size of the files that it has written, at any one time. */
  readonly maxOutputBytes: number
  readonly log: Log
}

interface CurrentRun {
  resolve(output: string): void
  reject(error: unknown): void
  progress(message: string): void
  ready(): void
}

const usageCheckMs = 250
const startLimitMs = 30_000
const abortGraceMs = 300
const lastOutputMs = 500

/** A child process that runs extractors, one at a time. It has no secrets in its environment and ends when the server does. */
export class ExtractorProcess {
  readonly memoryMb: number
  runs = 0
  #child: ChildProcess
  #folder: ProcessFolder
  #slot: SandboxSlot
  #residentMb: number
  #maxOutputBytes: number
  #channel: Channel
  #log: Log
  #run: CurrentRun | undefined
  #isReady = false
  #isSpent = false
  #hasExited = false
  #errors = ''
  /** V8 prints this before a stack trace that may be longer than what is kept of its output. */
  #isOutOfHeap = false
  /** Why the server ended it. */
  #killedFor: RunFailure | undefined
  #exited: Promise<unknown>

  private constructor(child: ChildProcess, folder: ProcessFolder, slot: SandboxSlot, options: ProcessOptions) {
    const { memoryMb, nativeMemoryMb, maxOutputBytes, log } = options
    this.#log = log
    this.#child = child
    this.#folder = folder
    this.#slot = slot
    this.memoryMb = memoryMb
    this.#residentMb = memoryMb + nativeMemoryMb
    this.#maxOutputBytes = maxOutputBytes
    this.#exited = once(child, 'exit').then(
      () => this.#onExit(),
      error => this.#onExit(error),
    )
    child.on('error', () => this.#kill())
    this.#channel = new Channel(
      child.stdio[3] as Duplex,
      line => parseJson(line, { ...defaultJsonLimits, maxBytes: 4 * maxLineCharacters }, 'The message'),
      message => this.#onMessage(messageIn(message)),
      error => void this.#onBrokenChannel(error),
    )
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#isOutOfHeap ||= `${this.#errors.slice(-100)}${text}`.includes('heap out of memory')
      this.#errors = (this.#errors + text).slice(-4000)
    })
  }

  /** Starts a process with a limited JavaScript heap, in the sandbox that this system has. */
  static async start(options: ProcessOptions): Promise<ExtractorProcess> {
    const { sandbox, readable, needs } = options
    const slot = sandbox.slot()
    try {
      const folder = await ProcessFolder.make(options.folder, slot.uid)
      const { input, work } = folder
      const access = { readable: [...readable, ...(needs.readPaths ?? [])], input, work, needs }
      const [program = '', ...args] = commandFor(slot, access, options)
      const child = spawn(program, args, {
        cwd: work,
        env: environmentIn(work),
        stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
        // A process group of its own, so that its children end with it and a Ctrl-C reaches the server alone.
        detached: true,
      })
      // Registered before anything is awaited: the start may fail at once.
      return new ExtractorProcess(child, folder, slot, options)
    } catch (error) {
      slot.release()
      throw error
    }
  }

  /** False once it has ended or is about to: it must get no further run. */
  get isUsable(): boolean {
    return !this.#isSpent && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /**
   * Runs one extractor to its end. `takeOver` receives the JSON text of its output, not yet validated, and the folder with its files; it has
   * to copy what it wants to keep. Rejects with a `RunFailure` when the extractor returns no output.
   */
  async run<T>(request: RunRequest, limits: RunLimits, takeOver: (output: string, folder: string) => Promise<T>): Promise<T> {
    limits.signal.throwIfAborted()
    this.runs += 1
    const { path, outputFolder } = await this.#folder.stage(request.input.path, limits.signal)
    const pathNames = new Map([
      [outputFolder, 'output'],
      [path, 'input'],
      [this.#folder.work, 'work'],
    ])
    try {
      const output = await this.#outputOf({ ...request, input: { ...request.input, path, outputFolder } }, limits)
      return await takeOver(output, outputFolder)
    } catch (error) {
      throw error instanceof RunFailure ? error.without(pathNames) : error
    } finally {
      this.#channel.send({ type: 'clear', folder: outputFolder })
      await this.#folder.unstage({ path, outputFolder })
    }
  }

  async #outputOf(request: RunRequest, limits: RunLimits): Promise<string> {
    limits.signal.throwIfAborted()
    const within = (ms: number): NodeJS.Timeout => setTimeout(() => this.#killFor(`It took longer than ${ms / 1000} s and was stopped`), ms)
    let timer = within(this.#isReady ? limits.timeoutMs : startLimitMs)
    // The startup time of its process does not count towards the extractor's time limit.
    const ready = (): void => {
      clearTimeout(timer)
      timer = within(limits.timeoutMs)
    }
    const usage = setInterval(() => void this.#checkUsage(), usageCheckMs)
    const onAbort = (): void => void this.#abort(limits.signal.reason)
    limits.signal.addEventListener('abort', onAbort, { once: true })
    try {
      return await new Promise<string>((resolve, reject) => {
        this.#run = { resolve, reject, ready, progress: limits.progress }
        if (this.#hasExited) reject(this.#exitReason())
        else this.#channel.send({ type: 'run', request })
      })
    } finally {
      clearTimeout(timer)
      clearInterval(usage)
      limits.signal.removeEventListener('abort', onAbort)
      this.#run = undefined
    }
  }

  /** Kills it at once, with all its children. Resolves when it has ended. */
  async stop(): Promise<void> {
    this.#kill()
    await this.#exited
  }

  #onMessage(message: FromProcess | undefined): void {
    if (message === undefined) void this.#onBrokenChannel(new Error('It sent an invalid message'))
    else if (message.type === 'ready') {
      this.#isReady = true
      this.#run?.ready()
      if (this.#child.pid !== undefined) void preferForKilling(this.#child.pid)
    } else if (message.type === 'progress') this.#run?.progress(message.message)
    else if (message.type === 'output') this.#run?.resolve(message.output)
    else {
      this.#isSpent ||= message.isLast
      this.#run?.reject(thrown(message.message))
    }
  }

  /** Nothing more can be received. For a process that never became ready, its exit says more than the broken pipe. */
  async #onBrokenChannel(error: Error): Promise<void> {
    const wasUsable = this.isUsable
    this.#isSpent = true
    if (!this.#isReady) await Promise.race([this.#exited, pause(lastOutputMs)])
    if (this.#hasExited) return
    if (wasUsable) this.#log.warn('Extractor process stopped: invalid messages', { error })
    this.#killFor('Its messages could not be read, and it was stopped')
  }

  async #abort(reason: unknown): Promise<void> {
    const run = this.#run
    this.#isSpent = true
    this.#channel.send({ type: 'abort' })
    await Promise.race([this.#exited, pause(abortGraceMs)])
    this.#kill()
    run?.reject(reason)
  }

  #killFor(why: string): void {
    this.#killedFor ??= new RunFailure('killed', why)
    this.#isSpent = true
    this.#kill()
  }

  async #checkUsage(): Promise<void> {
    const { pid } = this.#child
    if (pid === undefined || this.#isSpent) return
    const excess = excessOf(await usageOf(pid), this.#residentMb)
    if (excess !== undefined) return this.#killFor(`It ${excess} and was stopped`)
    const writtenBytes = await this.#folder.writtenBytes().catch(() => 0)
    if (writtenBytes > this.#maxOutputBytes) this.#killFor(`It wrote more than ${this.#maxOutputBytes} bytes and was stopped`)
  }

  async #onExit(error?: Error): Promise<void> {
    this.#hasExited = true
    // Its last output may still be in transit; a child may hold the other end open, so the wait is limited.
    const { stderr } = this.#child
    if (!error && stderr && !stderr.closed)
      await Promise.race([new Promise(onClosed => stderr.once('close', onClosed)), pause(lastOutputMs)])
    this.#run?.reject(error ? new RunFailure('fault', 'The extractor process could not be started', { cause: error }) : this.#exitReason())
    // Its children may outlive a process that ended by itself.
    this.#kill()
    this.#slot.release()
    await this.#folder.remove(this.#log)
  }

  #exitReason(): RunFailure {
    if (this.#killedFor) return this.#killedFor
    if (this.#isOutOfHeap) {
      return new RunFailure('killed', `It exceeded ${this.memoryMb} MiB of memory and was stopped`)
    }
    const how = this.#child.signalCode ?? `exit code ${this.#child.exitCode}`
    if (this.#isReady) return new RunFailure('killed', `Its process exited without a result (${how})`, { cause: this.#errors })
    return new RunFailure('fault', `The extractor process did not start (${how})`, { cause: this.#errors })
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
