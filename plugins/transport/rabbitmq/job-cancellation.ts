import { setTimeout as pause } from 'node:timers/promises'
import { type Log, type Transport, Unavailable } from 'pounce/sdk'
import { KeyedMutex } from 'pounce/sdk/kit'
import type { BrokerConnection } from './broker-connection.ts'
import type { StoredJob } from './bus-jobs.ts'
import type { Management } from './management.ts'
import { maskQueue } from './mask-keys.ts'
import { isMessageOf } from './message-ids.ts'
import { searchQueue } from './queue-search.ts'
import type { RabbitJobRepository } from './rabbit-job-repository.ts'

type Outcome = Awaited<ReturnType<Transport['cancel']>>

const sendingMs = 2000

/** Withdraws jobs that no extractor is processing. */
export class JobCancellation {
  #repository: RabbitJobRepository
  #link: BrokerConnection
  #management: Management
  #log: Log
  #limits: { readonly searchMs: number; readonly timeoutMs: number }
  /** Concurrent searches of one queue would hide its messages from each other. */
  readonly #mutex = new KeyedMutex()

  constructor(
    repository: RabbitJobRepository,
    link: BrokerConnection,
    management: Management,
    log: Log,
    limits: { readonly searchMs: number; readonly timeoutMs: number },
  ) {
    this.#repository = repository
    this.#link = link
    this.#management = management
    this.#log = log
    this.#limits = limits
  }

  async cancel(id: string): Promise<Outcome> {
    for (const until = performance.now() + sendingMs; performance.now() < until; await pause(20)) {
      const job = await this.#repository.get(id)
      if (!job) return 'unknown'
      if (job.state === 'unsent') {
        if (await this.#repository.removeUnsent(job)) return 'cancelled'
        // It is being sent, or its queue is being searched for it. From the broker it can be fetched in a moment.
        continue
      }
      return this.#mutex.use(job.queue, () => this.#takeBack(id))
    }
    if (!this.#link.model) throw new Unavailable('The broker is unavailable and may have this job')
    return 'running'
  }

  async #takeBack(id: string): Promise<Outcome> {
    const job = await this.#repository.get(id)
    if (!job) return 'unknown'
    // A job that an extractor has started may be queued again: it failed, or its extractor died.
    if (!(await this.#isTakenOut(job))) return (await this.#repository.get(id)) ? 'running' : 'unknown'
    return (await this.#repository.remove(id)) ? 'cancelled' : 'unknown'
  }

  /** True when no extractor will get the message any more. */
  async #isTakenOut(job: StoredJob): Promise<boolean> {
    const { model } = this.#link
    if (!model) throw new Unavailable('The broker is unavailable and has this job')
    const { searchMs, timeoutMs } = this.#limits
    const isAside = job.state === 'dead' || job.state === 'parked'
    const queue = isAside ? `error.${job.queue}` : job.queue
    const limits = { timeMs: searchMs, answerMs: timeoutMs, wanted: 1 }
    // Before the search, which itself holds messages.
    const isQuiet = isAside || hasBeenQuiet(job)
    const taken = isQuiet && !isAside ? await this.#unacknowledged(queue) : undefined
    const search = await searchQueue(model, queue, content => isMessageOf(content, job.id), limits)
    if (!search) return true
    const [message] = search.found
    if (message) search.take(message)
    // Closed before the record is deleted, so that the broker has removed the message.
    await search.close()
    if (message || isAside) return true
    // It is in no queue, and no extractor can be processing it: one that polls for messages is not a consumer of the queue.
    return search.isComplete && isQuiet && (taken ?? search.consumers) === 0
  }

  /** How many messages of the queue extractors are processing; undefined when the broker does not report it. */
  async #unacknowledged(queue: string): Promise<number | undefined> {
    try {
      return await this.#management.unacknowledged(queue)
    } catch (error) {
      this.#log.debug('The management plugin of the broker does not say what is being processed', { queue: maskQueue(queue), error })
      return undefined
    }
  }
}

/** Longer than the statistics of the management plugin can be outdated. */
const quietMs = 15_000

/** An extractor that has just taken a job reports it; the time in that status is from its own clock. */
const hasBeenQuiet = ({ heard, published }: StoredJob): boolean =>
  Math.max(Date.parse(heard ?? published), Date.parse(published)) < Date.now() - quietMs
