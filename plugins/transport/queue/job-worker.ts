import type { Extractor, Log, Metrics } from 'pounce/sdk'
import { FairQueue } from './fair-queue.ts'
import type { StoredJob } from './jobs.ts'
import { JobRun, type RunContext } from './run.ts'

const maxCrashes = 5

/** Runs the jobs of built-in extractors, as many concurrently as configured, until it is disposed of. */
export class JobWorker {
  #context: RunContext
  #metrics: Metrics
  #log: Log
  #extractors: () => ReadonlyMap<string, Extractor>
  #fairQueue: FairQueue
  #active = new Map<string, JobRun>()
  #free: number
  #maxActive: number
  #timer: NodeJS.Timeout | undefined
  #renewal: NodeJS.Timeout
  #pass: Promise<void> = Promise.resolve()
  #isInPass = false
  #needsPass = false
  #refreshAt = 0
  #recoverAt = 0

  /** Starts at once. `extractors` may change later. `concurrency` limits running extractors; a few more results may be on their way into the store. */
  constructor(extractors: () => ReadonlyMap<string, Extractor>, context: RunContext, metrics: Metrics, concurrency: number) {
    this.#extractors = extractors
    this.#context = context
    this.#metrics = metrics
    this.#log = context.log
    this.#free = concurrency
    this.#maxActive = 2 * concurrency + 4
    this.#fairQueue = new FairQueue([], (queue, limit) => context.repository.waiting(queue, limit))
    this.#renewal = setInterval(() => void this.#renew(), context.config.leaseMs / 3)
    this.#startJobs()
  }

  /** Called for newly stored jobs. */
  wake(added: readonly StoredJob[]): void {
    this.#fairQueue.add(added)
    this.#startJobs()
  }

  /** The current run of a job. */
  running(jobId: string): JobRun | undefined {
    return this.#active.get(jobId)
  }

  /** Ends all runs and requeues their jobs. The `stopping` signal must have been aborted. */
  async dispose(): Promise<void> {
    clearTimeout(this.#timer)
    clearInterval(this.#renewal)
    await this.#pass
    clearTimeout(this.#timer)
    await Promise.all([...this.#active.values()].map(run => run.stop()))
  }

  /** Starts what can be started. Calls during a pass cause another pass. */
  #startJobs(): void {
    this.#needsPass = true
    if (this.#isInPass || this.#context.stopping.aborted) return
    this.#isInPass = true
    clearTimeout(this.#timer)
    this.#pass = this.#runPasses()
  }

  async #runPasses(): Promise<void> {
    try {
      while (this.#needsPass && !this.#context.stopping.aborted) {
        this.#needsPass = false
        await this.#fill()
      }
    } catch (error) {
      this.#log.warn('Failed to read jobs; will be retried', { error })
    } finally {
      this.#isInPass = false
    }
    if (!this.#context.stopping.aborted) this.#timer = setTimeout(() => this.#startJobs(), this.#nextPassMs())
  }

  async #fill(): Promise<void> {
    const now = performance.now()
    const { pollMs, leaseMs } = this.#context.config
    if (now >= this.#recoverAt) {
      await this.#recover()
      this.#recoverAt = now + leaseMs / 2
    }
    if (now >= this.#refreshAt) {
      this.#fairQueue.refresh()
      this.#refreshAt = now + pollMs
    }
    const extractors = this.#extractors()
    this.#fairQueue.serve([...extractors.keys()])
    while (this.#free > 0 && this.#active.size < this.#maxActive && !this.#context.stopping.aborted) {
      const job = await this.#fairQueue.next(
        this.#context.now().toISOString(),
        id => this.#active.has(id),
        queue => this.#context.pool.hasRoomFor(extractors.get(queue)),
      )
      const extractor = job && extractors.get(job.queue)
      if (!job || !extractor) return
      this.#begin(job, extractor)
    }
  }

  #begin(job: StoredJob, extractor: Extractor): void {
    const started = performance.now()
    const run = new JobRun(job, extractor, this.#context)
    this.#active.set(job.id, run)
    this.#free -= 1
    void run.executed.then(() => {
      this.#free += 1
      this.#startJobs()
    })
    void run.ended.then(end => {
      this.#active.delete(job.id)
      this.#metrics.count('transport_runs_total', { queue: job.queue, end })
      this.#metrics.observe('transport_run_seconds', (performance.now() - started) / 1000, { queue: job.queue })
      this.#startJobs()
    })
  }

  #nextPassMs(): number {
    const { pollMs } = this.#context.config
    const due = this.#fairQueue.nextDue
    if (due === undefined || this.#free === 0 || this.#active.size >= this.#maxActive) return pollMs
    return Math.min(pollMs, Math.max(1, Date.parse(due) - this.#context.now().getTime()))
  }

  async #recover(): Promise<void> {
    const { repository, owner, config } = this.#context
    await repository.recover({
      owner,
      isHeld: id => this.#active.has(id),
      maxCrashes,
      delayMs: config.retryDelayMs,
      report: (job, error) => this.#report(job, `StatusMessage.error: ${error}`),
    })
    this.#fairQueue.refresh()
  }

  async #report(job: StoredJob, status: string): Promise<boolean> {
    const { listener, now } = this.#context
    const extractor = this.#extractors().get(job.queue)?.info.name ?? job.queue
    try {
      await listener.status({ jobId: job.id, targetId: job.target.id, extractor, status, at: now() })
      return true
    } catch (error) {
      this.#log.warn('Failed to report an error; will be retried', { job: job.id, error })
      return false
    }
  }

  async #renew(): Promise<void> {
    const ids = [...this.#active.keys()]
    if (ids.length === 0) return
    const { repository, owner, config } = this.#context
    try {
      for (const id of await repository.renew(ids, owner, config.leaseMs)) this.#active.get(id)?.abandon()
    } catch (error) {
      this.#log.warn('Failed to renew leases', { error })
    }
  }
}
