import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Extractor, Log } from 'pounce/sdk'
import { ExtractorProcess, type RunLimits } from './extractor-process.ts'
import type { RunRequest } from './messages.ts'

/** How the pool behaves; see the plugin's config. */
export interface PoolOptions {
  /** Processes at most; the caller begins no more runs than that. */
  readonly size: number
  readonly runsPerProcess: number
  readonly idleMs: number
  readonly nativeMemoryMb: number
  /** Where each process gets its own folder. */
  readonly folder: string
  /** The folder below which processes may write. */
  readonly writable: string
  readonly log: Log
}

interface Idle {
  readonly worker: ExtractorProcess
  readonly timer: NodeJS.Timeout
}

/** Extractor processes, started when needed, used again by extractors with the same memory limit, ended when idle. */
export class ProcessPool {
  #options: PoolOptions
  /** Longest idle first. */
  #idle: Idle[] = []
  #busy = new Set<ExtractorProcess>()

  constructor(options: PoolOptions) {
    this.#options = options
  }

  /** Runs an extractor; see `ExtractorProcess.run`. */
  async run(extractor: Extractor, request: RunRequest, limits: RunLimits): Promise<string> {
    const worker = this.#takeIdle(extractor.memoryMb) ?? (await this.#start(extractor.memoryMb))
    this.#busy.add(worker)
    try {
      return await worker.run(request, limits)
    } finally {
      this.#busy.delete(worker)
      await this.#giveBack(worker)
    }
  }

  /** Ends all processes, busy ones too: their runs fail. */
  async dispose(): Promise<void> {
    const all = [...this.#busy, ...this.#idle.map(({ worker }) => worker)]
    for (const { timer } of this.#idle) clearTimeout(timer)
    this.#idle = []
    await Promise.all(all.map(worker => worker.stop()))
  }

  #takeIdle(memoryMb: number): ExtractorProcess | undefined {
    const at = this.#idle.findLastIndex(({ worker }) => worker.memoryMb === memoryMb && worker.isUsable)
    const [idle] = at < 0 ? [] : this.#idle.splice(at, 1)
    clearTimeout(idle?.timer)
    return idle?.worker
  }

  async #start(memoryMb: number): Promise<ExtractorProcess> {
    const { size, folder, writable, nativeMemoryMb, log } = this.#options
    if (this.#busy.size + this.#idle.length >= size) await this.#drop(this.#idle[0])
    return ExtractorProcess.start({ folder: join(folder, randomUUID()), writable, memoryMb, nativeMemoryMb, log })
  }

  async #giveBack(worker: ExtractorProcess): Promise<void> {
    const { runsPerProcess, idleMs } = this.#options
    if (!worker.isUsable || worker.runs >= runsPerProcess || idleMs === 0) return worker.stop()
    const idle: Idle = { worker, timer: setTimeout(() => void this.#drop(idle), idleMs) }
    this.#idle.push(idle)
  }

  async #drop(idle: Idle | undefined): Promise<void> {
    if (!idle) return
    clearTimeout(idle.timer)
    this.#idle = this.#idle.filter(other => other !== idle)
    await idle.worker.stop()
  }
}
