import { type Contributions, type Ref, type Transport, Transports, Unavailable, wire } from 'pounce/sdk'
import type { Bus, Job, QueueFacts, TransportListener } from 'pounce/sdk/kit'

/** As many jobs as a transport takes at once. */
const maxJobs = 1000

/** All transports as one: each job goes to the one that serves its queue. */
export class TransportRouter {
  #transports: Contributions<Transport>

  constructor(transports: Contributions<Transport>) {
    this.#transports = transports
  }

  async listen(listener: TransportListener): Promise<void> {
    for (const transport of this.#transports.all()) await transport.listen(listener)
  }

  /** As `Transport.publish`, for any number of jobs. */
  async publish(jobs: readonly Job[]): Promise<void> {
    for (const [transport, share] of Map.groupBy(jobs, ({ queue }) => this.#of(queue))) {
      for (let at = 0; at < share.length; at += maxJobs) await transport.publish(share.slice(at, at + maxJobs))
    }
  }

  /** As `Transport.cancel`, wherever the job is. */
  async cancel(jobId: string): Promise<'cancelled' | 'running' | 'unknown'> {
    for (const transport of this.#transports.all()) {
      const outcome = await transport.cancel(jobId)
      if (outcome !== 'unknown') return outcome
    }
    return 'unknown'
  }

  /** As `Transport.revive`, wherever the job is. */
  async revive(jobId: string): Promise<boolean> {
    for (const transport of this.#transports.all()) if (await transport.revive(jobId)) return true
    return false
  }

  /** By name. */
  async queues(): Promise<readonly QueueFacts[]> {
    const all = await Promise.all(this.#transports.all().map(transport => transport.queues()))
    return all.flat().sort((a, b) => (a.queue < b.queue ? -1 : 1))
  }

  /** As `Transport.pending`, of all transports. */
  async pending(target: Ref): ReturnType<Transport['pending']> {
    return (await Promise.all(this.#transports.all().map(transport => transport.pending(target)))).flat()
  }

  /** The buses among them, which outside extractors share. */
  buses(): readonly Bus[] {
    return this.#transports.all().flatMap(({ bus }) => bus ?? [])
  }

  /** Main media types that are bound on any bus in the old way, each once, by name. */
  async inputTypes(): Promise<readonly string[]> {
    const all = await Promise.all(this.buses().map(bus => bus.inputTypes()))
    return [...new Set(all.flat())].sort()
  }

  /** True of a queue whose extractor Pounce runs itself. */
  runsHere(queue: string): boolean {
    return this.#transports.all().some(transport => transport.runs().has(queue))
  }

  /** True of a queue on a bus, of which a job may be gone because an extractor has taken it. */
  isOnBus(queue: string): boolean {
    return !this.runsHere(queue) && this.buses().length > 0
  }

  #of(queue: string): Transport {
    const all = this.#transports.all()
    const transport = all.find(each => each.runs().has(queue)) ?? all.find(each => each.bus) ?? all[0]
    if (!transport) throw new Unavailable('No transport is loaded: add transport.queue or transport.rabbitmq to "plugins"')
    return transport
  }
}
wire(TransportRouter, Transports)
