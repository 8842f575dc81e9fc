import { anonymousUserId, Installation, type Job, port, Users, wire } from 'pounce/sdk'
import type { Trigger } from './collections.ts'
import type { Asked, Message } from './job-message.ts'
import { Extractions, type StoredExtractions, type Target } from './stored-extractions.ts'

/** A run to ask for. */
export interface Order {
  /** The job's; the same for the same wish, where a wish can come twice. */
  readonly id: string
  readonly queue: string
  /** The extractor's name, when it is not that of the queue. */
  readonly extractor?: string
  readonly target: Target
  readonly user: string | null | undefined
  readonly trigger: Trigger
  readonly chain?: readonly string[]
  readonly parameters?: Readonly<Record<string, unknown>>
  readonly message: (asked: Asked) => Message
}

/** Writes down runs that are asked for, and what to send for each. */
export class Asking {
  #extractions: StoredExtractions
  #users: Users
  /** Asked when a run is asked for: a server that takes any free port learns its address after its start. */
  #installation: Installation

  constructor(extractions: StoredExtractions, users: Users, installation: Installation) {
    this.#extractions = extractions
    this.#users = users
    this.#installation = installation
  }

  /** First the record of each run; then what to publish, without those that are over already. */
  async jobsOf(orders: readonly Order[]): Promise<readonly Job[]> {
    const jobs: Job[] = []
    const mails = new Map<string, readonly string[]>()
    for (const order of orders) {
      const { id, queue, target, trigger, message, extractor = queue, chain = [], parameters = {} } = order
      const user = order.user == null || order.user === anonymousUserId ? null : order.user
      if (!(await this.#extractions.submitted(id, { target, extractor, queue, user, trigger, chain }))) continue
      const notifies = user === null ? [] : (mails.get(user) ?? (await this.#mailOf(user)))
      if (user !== null) mails.set(user, notifies)
      jobs.push({ id, queue, target, user, message: message({ jobId: id, host: this.#installation.baseUrl, notifies }), parameters })
    }
    return jobs
  }

  async #mailOf(user: string): Promise<readonly string[]> {
    const owner = await this.#users.get(user)
    return owner ? [owner.email] : []
  }
}
wire(Asking, Extractions, Users, Installation)

export const AskingRuns = port<Asking>('extractions.asking')
