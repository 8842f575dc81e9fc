import { randomUUID } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import {
  BlobStore,
  Clock,
  type Contributions,
  DocumentStore,
  type Extractor,
  Extractors,
  Installation,
  Invalid,
  Log,
  Metrics,
  type Transport,
  wire,
} from 'pounce/sdk'
import type { Job, QueueStatistics, TransportListener } from 'pounce/sdk/kit'
import { Config, type QueueConfig } from './config.ts'
import { JobRepository } from './job-repository.ts'
import { JobWorker } from './job-worker.ts'
import { openSandbox } from './open-sandbox.ts'
import { ProcessPool } from './process-pool.ts'
import { removeFolder } from './remove-folder.ts'
import { withRetry } from './retry.ts'
import type { RunContext } from './run.ts'
import type { Sandbox } from './sandbox.ts'

const maxJobs = 1000
const maxEndedJobs = 10_000
/** Delays the probes, so that they do not compete with the server's startup for the processor. */
const probeAfterMs = 1000

/** Jobs in the document store. Those of built-in extractors run here, in child processes; all others wait. */
export class QueueTransport implements Transport {
  readonly kind = 'queue'
  #config: QueueConfig
  #installation: Installation
  #blobs: BlobStore
  #extractors: Contributions<Extractor>
  #clock: Clock
  #log: Log
  #metrics: Metrics
  #repository: JobRepository
  #stopping = new AbortController()
  #listener: TransportListener | undefined
  #worker: JobWorker | undefined
  #pool: ProcessPool | undefined
  #sandbox: Promise<Sandbox> | undefined
  #probing: NodeJS.Timeout | undefined
  #known: ReadonlySet<string> = new Set()
  #announcing: Promise<unknown> = Promise.resolve()
  /** Recently finished jobs: a publisher that repeats itself must not run them again. Oldest first. */
  #endedJobs = new Set<string>()

  constructor(
    config: QueueConfig,
    installation: Installation,
    documents: DocumentStore,
    blobs: BlobStore,
    extractors: Contributions<Extractor>,
    clock: Clock,
    log: Log,
    metrics: Metrics,
  ) {
    this.#config = config
    this.#installation = installation
    this.#blobs = blobs
    this.#extractors = extractors
    this.#clock = clock
    this.#log = log
    this.#metrics = metrics
    this.#repository = new JobRepository(documents, () => clock.now())
  }

  /** Detects the available sandbox: at once where one is required, otherwise a little later or when the first run needs it. */
  async start(): Promise<void> {
    if (!this.#installation.roles.has('worker')) return
    if (this.#config.sandbox === 'required') await this.#openSandbox()
    else this.#probing = setTimeout(() => this.#openSandbox(), probeAfterMs).unref()
  }

  /** Resolves to the gaps in the extractor sandbox, if any. */
  async health(): Promise<string | undefined> {
    const isWorker = this.#installation.roles.has('worker')
    const sandbox = this.#config.sandbox === 'off' || !isWorker ? undefined : await this.#openSandbox()
    if (!sandbox || sandbox.gaps.length === 0) return undefined
    return `Extractors run without a complete sandbox of the operating system; open: ${sandbox.gaps.join('; ')}`
  }

  async publish(jobs: readonly Job[]): Promise<void> {
    if (jobs.length > maxJobs) throw new Invalid(`At most ${maxJobs} jobs can be published at once, not ${jobs.length}`)
    const added = await this.#repository.add(jobs.filter(({ id }) => !this.#endedJobs.has(id)))
    if (added.length > 0) this.#worker?.wake(added)
  }

  async cancel(jobId: string): ReturnType<Transport['cancel']> {
    const outcome = (await this.#worker?.running(jobId)?.cancel()) ?? (await this.#repository.remove(jobId))
    if (outcome === 'cancelled') this.#noteEnded(jobId)
    return outcome
  }

  async listen(listener: TransportListener): Promise<void> {
    if (this.#listener) throw new Error('transport.queue has a listener already')
    this.#listener = listener
    if (!this.#installation.roles.has('worker')) return
    await this.#startWorker(listener)
  }

  runs(): ReadonlySet<string> {
    return new Set(this.#builtIn().keys())
  }

  async queues(): Promise<readonly QueueStatistics[]> {
    const builtIn = this.#builtIn()
    const statistics = await this.#repository.queues([...builtIn.keys()])
    return statistics.map(each => ({ ...each, consumers: builtIn.has(each.queue) ? 1 : 0 }))
  }

  pending(target: Job['target']): ReturnType<Transport['pending']> {
    return this.#repository.pending(target)
  }

  async revive(jobId: string): Promise<boolean> {
    const job = await this.#repository.revive(jobId)
    if (job) this.#worker?.wake([job])
    return job !== undefined
  }

  async dispose(): Promise<void> {
    clearTimeout(this.#probing)
    this.#stopping.abort(new Error('The transport is stopping'))
    await this.#worker?.dispose()
    await this.#pool?.dispose()
    await this.#announcing
    const sandbox = await this.#sandbox?.catch(() => undefined)
    await sandbox?.dispose?.()
  }

  #builtIn(): ReadonlyMap<string, Extractor> {
    const byQueue = new Map<string, Extractor>()
    for (const extractor of this.#extractors.all()) {
      const { name } = extractor.info
      // Of two with the same name the first one is used, as the kernel's startup warning says.
      if (!byQueue.has(name)) byQueue.set(name, extractor)
    }
    return byQueue
  }

  /** The extractors of the enabled plugins. New ones are announced. */
  #announced(listener: TransportListener): ReadonlyMap<string, Extractor> {
    const extractors = this.#builtIn()
    for (const [queue, { info, needs }] of extractors) {
      if (this.#known.has(queue)) continue
      if (needs) this.#log.info('Extractor has additional permissions', { extractor: queue, needs })
      this.#announcing = Promise.all([this.#announcing, this.#announce(listener, queue, info)])
    }
    this.#known = new Set(extractors.keys())
    return extractors
  }

  async #startWorker(listener: TransportListener): Promise<void> {
    const config = this.#config
    const log = this.#log
    const { concurrency = Math.max(1, availableParallelism() - 1), runsPerProcess, idleMs, nativeMemoryMb, maxOutputBytes } = config
    const root = join(this.#installation.dataFolder, 'transport.queue')
    const [processes, runs] = [join(root, 'processes'), join(root, 'runs')]
    const owner = await ownerOf(root)
    // Left by an earlier run that did not shut down cleanly.
    await Promise.all([removeFolder(processes, log), removeFolder(runs, log)])
    const limits = { size: concurrency, runsPerProcess, idleMs, nativeMemoryMb, maxOutputBytes }
    this.#pool = new ProcessPool({ ...limits, sandbox: () => this.#openSandbox(), folder: processes, log })
    const context: RunContext = {
      repository: this.#repository,
      blobs: this.#blobs,
      pool: this.#pool,
      listener,
      log,
      now: () => this.#clock.now(),
      config,
      owner,
      folder: runs,
      stopping: this.#stopping.signal,
      onEnded: jobId => this.#noteEnded(jobId),
    }
    this.#worker = new JobWorker(() => this.#announced(listener), context, this.#metrics, concurrency)
  }

  #openSandbox(): Promise<Sandbox> {
    const { sandbox: mode, sandboxUid: firstUid } = this.#config
    const { dataFolder } = this.#installation
    this.#sandbox ??= openSandbox({ mode, firstUid, dataFolder, log: this.#log })
    // Callers that await it get the failure; until then it must not be an unhandled rejection.
    this.#sandbox.catch(() => undefined)
    return this.#sandbox
  }

  async #announce(listener: TransportListener, queue: string, info: unknown): Promise<void> {
    const retryPolicy = { signal: this.#stopping.signal, tries: 5, delayMs: 500, unavailableMs: Number.POSITIVE_INFINITY }
    try {
      await withRetry(() => listener.heartbeat({ queue, info, isBuiltIn: true }), retryPolicy)
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#log.error('Failed to register a built-in extractor', { queue, error })
    }
  }

  #noteEnded(jobId: string): void {
    this.#endedJobs.add(jobId)
    for (const oldest of this.#endedJobs) {
      if (this.#endedJobs.size <= maxEndedJobs) return
      this.#endedJobs.delete(oldest)
    }
  }
}
wire(QueueTransport, Config, Installation, DocumentStore, BlobStore, Extractors, Clock, Log, Metrics)

/**
 * The name of this worker in leases. It is stored in the data folder, which only one kernel can use: jobs that run under this name
 * at startup are left from an earlier run.
 */
async function ownerOf(root: string): Promise<string> {
  await mkdir(root, { recursive: true, mode: 0o700 })
  const path = join(root, 'owner')
  const known = await readFile(path, 'utf8').catch(() => '')
  if (known !== '') return known
  const fresh = randomUUID()
  await writeFile(path, fresh)
  return fresh
}
