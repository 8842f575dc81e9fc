import { definePlugin, type Plugin, provide, type Transport, Transports } from 'pounce/sdk'
import type { BusListener, Job, JobResult, JobStatus, QueueStatistics, TransportListener } from 'pounce/sdk/kit'

type Pending = Awaited<ReturnType<Transport['pending']>>[number]

/** A transport that records published jobs. The test acts as all extractors. */
export class FakeBus implements Transport {
  readonly kind = 'fake'
  /** Every published job, in order, without duplicates of an id. */
  readonly jobs: Job[] = []
  /** Queues with legacy bindings by routing key. */
  readonly bound = new Map<string, readonly string[]>()
  readonly dead = new Set<string>()
  listening: readonly BusListener[] = []
  inputs: readonly string[] = []
  /** The result of `cancel`. */
  outcome: 'cancelled' | 'running' | 'unknown' = 'cancelled'
  /** If set, `publish` rejects with it. */
  fault: Error | undefined
  /** Number of such failures. */
  failures = 0
  readonly bus = {
    boundTo: async (routingKey: string) => this.bound.get(routingKey) ?? [],
    listeners: async () => this.listening,
    inputTypes: async () => this.inputs,
  }
  #listener: TransportListener | undefined

  /** The plugin for `bootForTest({ also: [bus.plugin] })`. */
  get plugin(): Plugin {
    const bus = this
    class Contributed {
      constructor() {
        // biome-ignore lint/correctness/noConstructorReturn: the test's bus stands in for an instance of the plugin's
        return bus
      }
    }
    return definePlugin({
      id: 'transport.fake',
      summary: 'A bus for tests.',
      provides: [provide(Transports, Contributed as new () => Transport)],
    })
  }

  runs(): ReadonlySet<string> {
    return new Set()
  }

  async publish(jobs: readonly Job[]): Promise<void> {
    if (this.fault) {
      this.failures++
      throw this.fault
    }
    for (const job of jobs) if (!this.jobs.some(({ id }) => id === job.id)) this.jobs.push(job)
  }

  async cancel(jobId: string) {
    return this.jobs.some(({ id }) => id === jobId) ? this.outcome : 'unknown'
  }

  async listen(listener: TransportListener): Promise<void> {
    this.#listener = listener
  }

  async queues(): Promise<readonly QueueStatistics[]> {
    const names = [...new Set(this.jobs.map(({ queue }) => queue))].sort()
    return names.map(queue => ({ queue, waiting: this.to(queue).length, running: 0, consumers: 1, dead: 0 }))
  }

  async pending(target: Job['target']): Promise<readonly Pending[]> {
    return this.jobs.filter(job => job.target.id === target.id).map(job => ({ job, state: 'waiting', attempts: 0 }))
  }

  async revive(jobId: string): Promise<boolean> {
    return this.dead.delete(jobId)
  }

  /** Jobs of a queue, in order. */
  to(queue: string): readonly Job[] {
    return this.jobs.filter(job => job.queue === queue)
  }

  /** An extractor registers itself. */
  async introduce(info: Readonly<Record<string, unknown>>, owner?: string): Promise<void> {
    const queue = String(info['name'])
    await this.#received.heartbeat({ queue, info, isBuiltIn: false, ...(owner === undefined ? {} : { owner }) })
  }

  /** An extractor reports the status of a job, by default with the current time. */
  async sendStatus(job: Job, status: string, about: Partial<JobStatus> = {}): Promise<void> {
    const at = new Date(Math.floor(Date.now() / 1000) * 1000)
    await this.#received.status({ jobId: job.id, targetId: job.target.id, extractor: job.queue, status, at, ...about })
  }

  /** Like `tell`, by an extractor that omits the job id. */
  async sendOldStatus(job: Job, status: string): Promise<void> {
    const at = new Date(Math.floor(Date.now() / 1000) * 1000)
    await this.#received.status({ targetId: job.target.id, extractor: job.queue, status, at })
  }

  /** The input of a job, as requested by a transport that runs jobs itself. */
  input({ target }: Job) {
    return this.#received.input(target)
  }

  /** Reports a result, like such a transport. */
  result(result: JobResult): Promise<void> {
    return this.#received.result(result)
  }

  get #received(): TransportListener {
    if (!this.#listener) throw new Error('The transport has no listener')
    return this.#listener
  }
}
