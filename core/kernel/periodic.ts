import type { Log, Metrics } from 'pounce/sdk'
import { withTimeLimit } from 'pounce/sdk/kit'
import type { Leases } from './leases.ts'

/** A task of a plugin that runs periodically, on one kernel at a time. */
export interface PeriodicTask {
  /** Prefixed with the plugin's name: `resources.files/sweep`. */
  readonly name: string
  readonly everyMs: number
  run(signal: AbortSignal): Promise<void>
}

const leaseMs = 15_000
/** Maximum wait before a kernel checks again whether a long interval has elapsed, since other kernels may share the store. */
const maxWaitMs = 60_000
const firstWaitMs = 5_000
const stopLimitMs = 10_000

/** Runs each task once per interval, on the kernel that gets its lease. A failed run is logged and retried at the next interval. */
export class PeriodicWork {
  readonly #tasks: readonly PeriodicTask[]
  readonly #leases: Leases
  readonly #log: Log
  readonly #metrics: Metrics
  readonly #stopped = new AbortController()
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #running = new Set<Promise<void>>()

  constructor(tasks: readonly PeriodicTask[], leases: Leases, log: Log, metrics: Metrics) {
    this.#tasks = tasks
    this.#leases = leases
    this.#log = log
    this.#metrics = metrics
  }

  start(): void {
    for (const task of this.#tasks) this.#schedule(task, Math.min(task.everyMs, firstWaitMs))
  }

  /** Runs a task now, even if it is not due; rejects with its error. For tests and commands. */
  async runNow(name: string): Promise<void> {
    const task = this.#tasks.find(one => one.name === name)
    if (!task) throw new Error(`Unknown periodic task ${name}; known: ${this.#tasks.map(one => one.name).join(', ') || 'none'}`)
    await task.run(this.#stopped.signal)
  }

  /** Aborts running tasks and waits up to 10 s for them. */
  async stop(): Promise<void> {
    this.#stopped.abort()
    for (const timer of this.#timers) clearTimeout(timer)
    try {
      await withTimeLimit(Promise.all(this.#running), stopLimitMs, 'periodic tasks did not stop in time')
    } catch (error) {
      this.#log.error('Periodic task abandoned', { error })
    }
  }

  #schedule(task: PeriodicTask, inMs: number): void {
    if (this.#stopped.signal.aborted) return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      const run = this.#runOnce(task).finally(() => {
        this.#running.delete(run)
        this.#schedule(task, Math.min(task.everyMs, maxWaitMs))
      })
      this.#running.add(run)
    }, inMs).unref()
    this.#timers.add(timer)
  }

  async #runOnce(task: PeriodicTask): Promise<void> {
    try {
      const lease = await this.#leases.take(task.name, leaseMs)
      if (!lease) return
      const held = this.#leases.hold(lease, error => this.#log.warn(`Failed to renew the lease of ${task.name}`, { error }))
      const began = performance.now()
      try {
        await task.run(AbortSignal.any([this.#stopped.signal, held.signal]))
      } finally {
        held.end()
        this.#metrics.observe('periodic_seconds', (performance.now() - began) / 1000, { task: task.name })
        await this.#leases.release(lease, task.everyMs)
      }
    } catch (error) {
      this.#metrics.count('periodic_failures_total', { task: task.name })
      this.#log.error(`${task.name} failed; it will be retried at the next interval`, { error })
    }
  }
}
