import type { Log } from 'pounce/sdk'
import type { BrokerConnection } from './broker-connection.ts'
import type { StoredJob } from './bus-jobs.ts'
import { maskQueue } from './mask-keys.ts'
import { idsIn } from './message-ids.ts'
import { searchQueue } from './queue-search.ts'
import type { RabbitJobRepository } from './rabbit-job-repository.ts'

/** Dependencies. */
export interface DoubtfulJobsParts {
  readonly repository: RabbitJobRepository
  readonly link: BrokerConnection
  readonly log: Log
  /** Time limits for one queue, and for other responses of the broker. */
  readonly searchMs: number
  readonly timeoutMs: number
}

/**
 * Jobs whose sender ended, or lost the broker, before it was recorded whether the broker has them. Sending them again would run many twice, so
 * their queues are searched first. A message that an extractor is processing is in no queue: that job can be delivered twice.
 */
export class UnconfirmedJobs {
  #parts: DoubtfulJobsParts

  constructor(parts: DoubtfulJobsParts) {
    this.#parts = parts
  }

  /** Returns those that have to be sent; the others are in their queues, and recorded as sent. If a queue cannot be searched, all of its jobs. */
  async unsent(jobs: readonly StoredJob[]): Promise<readonly StoredJob[]> {
    const rest: StoredJob[] = []
    for (const [queue, some] of Map.groupBy(jobs, job => job.queue)) {
      const there = await this.#waitingIn(queue, new Set(some.map(({ id }) => id)))
      await this.#parts.repository.sent([...there])
      rest.push(...some.filter(({ id }) => !there.has(id)))
    }
    return rest
  }

  async #waitingIn(queue: string, ids: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    const { link, log, searchMs, timeoutMs } = this.#parts
    const found = new Set<string>()
    if (!link.model) return found
    try {
      const isWanted = (content: Buffer): boolean => {
        const id = idsIn(content).find(each => ids.has(each))
        if (id !== undefined) found.add(id)
        return id !== undefined
      }
      const search = await searchQueue(link.model, queue, isWanted, { timeMs: searchMs, answerMs: timeoutMs, wanted: ids.size })
      await search?.close()
      if (found.size > 0) log.info('Jobs already on the broker are not sent again', { queue: maskQueue(queue), jobs: found.size })
    } catch (error) {
      log.warn('Failed to read a queue; its jobs may be delivered twice', { queue: maskQueue(queue), error })
    }
    return found
  }
}
