import { type Contributions, Log, type Ref, type Transport, Transports, Unavailable, wire } from 'pounce/sdk'
import type { Bus, Job, QueueStatistics, TransportListener } from 'pounce/sdk/kit'
import { StoredExtractions } from './stored-extractions.ts'
import { StoredExtractors } from './stored-extractors.ts'

/** Maximum number of jobs that a transport accepts at once. */
const maxJobs = 1000

/** Combines all transports: each job is sent to the one that serves its queue. Jobs of a built-in extractor that is switched off wait for it. */
export class TransportRouter {
  #transports: Contributions<Transport>
  #extractors: StoredExtractors

  constructor(transports: Contributions<Transport>, extractors: StoredExtractors) {
    this.#transports = transports
    this.#extractors = extractors
  }

  async listen(listener: TransportListener): Promise<void> {
    for (const transport of this.#transports.all()) await transport.listen(listener)
  }

  /** Like `Transport.publish`, for any number of jobs. */
  async publish(jobs: readonly Job[]): Promise<void> {
    const queues = [...new Set(jobs.map(({ queue }) => queue))]
    const serving = new Map(await Promise.all(queues.map(async queue => [queue, await this.#of(queue)] as const)))
    for (const [transport, share] of Map.groupBy(jobs, ({ queue }) => serving.get(queue))) {
      if (!transport) throw new Unavailable('No transport is loaded: add transport.queue or transport.rabbitmq to "plugins"')
      for (let at = 0; at < share.length; at += maxJobs) await transport.publish(share.slice(at, at + maxJobs))
    }
  }

  /** Queues with jobs that wait on a transport which does not serve them, because they were submitted while the one that does was not loaded. */
  async misplaced(): Promise<readonly { readonly queue: string; readonly from: Transport; readonly to: Transport }[]> {
    const all = this.#transports.all()
    if (all.length < 2) return []
    const waiting = await Promise.all(all.filter(each => !each.bus).map(async from => ({ from, statistics: await from.queues() })))
    const checked = waiting.flatMap(({ from, statistics }) =>
      statistics.filter(each => each.waiting > 0).map(async ({ queue }) => ({ queue, from, to: await this.#of(queue) })),
    )
    return (await Promise.all(checked)).flatMap(({ queue, from, to }) => (to && to !== from ? [{ queue, from, to }] : []))
  }

  /** Like `Transport.cancel`, on the transport that has the job. */
  async cancel(jobId: string): Promise<'cancelled' | 'running' | 'unknown'> {
    for (const transport of this.#transports.all()) {
      const outcome = await transport.cancel(jobId)
      if (outcome !== 'unknown') return outcome
    }
    return 'unknown'
  }

  /** Like `Transport.revive`, on the transport that has the job. */
  async revive(jobId: string): Promise<boolean> {
    for (const transport of this.#transports.all()) if (await transport.revive(jobId)) return true
    return false
  }

  /** By name. */
  async queues(): Promise<readonly QueueStatistics[]> {
    const all = await Promise.all(this.#transports.all().map(transport => transport.queues()))
    return all.flat().sort((a, b) => (a.queue < b.queue ? -1 : 1))
  }

  /** Like `Transport.pending`, for all transports. */
  async pending(target: Ref): ReturnType<Transport['pending']> {
    return (await Promise.all(this.#transports.all().map(transport => transport.pending(target)))).flat()
  }

  /** The transports that are buses, which external extractors share. */
  buses(): readonly Bus[] {
    return this.#transports.all().flatMap(({ bus }) => bus ?? [])
  }

  /** Main media types with legacy bindings on any bus, each once, by name. */
  async inputTypes(): Promise<readonly string[]> {
    const all = await Promise.all(this.buses().map(bus => bus.inputTypes()))
    return [...new Set(all.flat())].sort()
  }

  /** True for a queue on a bus, from which an extractor may already have taken a job. */
  async isOnBus(queue: string): Promise<boolean> {
    return (await this.#of(queue))?.bus !== undefined
  }

  async #of(queue: string): Promise<Transport | undefined> {
    const all = this.#transports.all()
    const running = all.find(each => each.runs().has(queue))
    const bus = all.find(each => each.bus)
    if (running || !bus) return running ?? all[0]
    const isBuiltIn = (await this.#extractors.byQueue(queue))?.isBuiltIn
    return (isBuiltIn ? all.find(each => !each.bus) : undefined) ?? bus
  }
}
wire(TransportRouter, Transports, StoredExtractors)

/** Moves jobs that were submitted while no bus was loaded to the bus. A job whose move is interrupted is published again, which has no effect while the bus has it. */
export class MoveJobsToBus {
  #transports: TransportRouter
  #extractions: StoredExtractions
  #log: Log

  constructor(transports: TransportRouter, extractions: StoredExtractions, log: Log) {
    this.#transports = transports
    this.#extractions = extractions
    this.#log = log
  }

  async run(signal: AbortSignal): Promise<void> {
    for (const { queue, from, to } of await this.#transports.misplaced()) {
      let moved = 0
      for await (const { id, target, extractor } of this.#extractions.openOfQueue(queue)) {
        if (signal.aborted) return
        const waiting = (await from.pending(target)).find(({ job, state }) => job.id === id && state === 'waiting')
        if (!waiting) continue
        await to.publish([waiting.job])
        // A user may have cancelled it meanwhile.
        if ((await from.cancel(id)) === 'unknown') await to.cancel(id)
        moved++
        if (moved === 1) this.#log.info('Jobs that were submitted without a broker are moved to the broker', { extractor })
      }
    }
  }
}
wire(MoveJobsToBus, TransportRouter, StoredExtractions, Log)
