import { Clock, DocumentStore, Log, wire } from 'pounce/sdk'
import { Broker } from './broker.ts'
import { countQueues } from './queue-search.ts'
import { RabbitJobRepository } from './rabbit-job-repository.ts'
import { within } from './within.ts'

const timeMs = 30_000

/**
 * Jobs that the broker had and whose queue is gone, because somebody deleted it or the broker lost its disk: they are sent again, which
 * tells people that there is no such queue, or reaches the one that is there again.
 */
export class LostQueues {
  #broker: Broker
  #book: RabbitJobRepository
  #log: Log

  constructor(broker: Broker, documents: DocumentStore, clock: Clock, log: Log) {
    this.#broker = broker
    this.#book = new RabbitJobRepository(documents, () => clock.now())
    this.#log = log
  }

  async run(signal: AbortSignal): Promise<void> {
    const { model } = this.#broker.listening
    if (!model) return
    const queues = await Array.fromAsync(this.#book.queueNames('sent'))
    for (const [queue, count] of await within(countQueues(model, queues, timeMs), 2 * timeMs)) {
      if (count || signal.aborted) continue
      const jobs = await this.#book.inQueue('sent', queue)
      for (const job of jobs) await this.#book.become(job, 'unsent')
      this.#log.warn('queue with jobs is missing on the broker; its jobs are sent again', { queue, jobs: jobs.length })
    }
  }
}
wire(LostQueues, Broker, DocumentStore, Clock, Log)
