import { anonymousUserId, Installation, type Job, type s, trimEnd, Users, wire } from 'pounce/sdk'
import type { Trigger } from './collections.ts'
import { Config, type config } from './config.ts'
import type { Asked, Message } from './job-message.ts'
import { StoredExtractions, type Target } from './stored-extractions.ts'

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
  /** When the key expires with which it is submitted, if that is the key of a job: the new job's is not valid longer. */
  readonly keysUntil?: Date | undefined
  readonly message: (asked: Asked) => Message
}

/** In whose name it runs. Who is nobody in particular has an id of their own in records, and no key. */
const userOf = ({ user }: Order): string | null => (user == null || user === anonymousUserId ? null : user)

/** Writes down runs that are asked for, and what to send for each. */
export class JobFactory {
  #extractions: StoredExtractions
  #users: Users
  /** Asked when a run is asked for: a server that takes any free port learns its address after its start. */
  #installation: Installation
  #host: string | undefined

  constructor({ clowderUrl }: s.Static<typeof config>, extractions: StoredExtractions, users: Users, installation: Installation) {
    this.#host = clowderUrl === undefined ? undefined : trimEnd(clowderUrl, '/')
    this.#extractions = extractions
    this.#users = users
    this.#installation = installation
  }

  /** First the record of each run, side by side so that the store writes them together; then what to publish, in the order of the orders, without those that are over already. */
  async jobsOf(orders: readonly Order[]): Promise<readonly Job[]> {
    const users = new Set(orders.map(userOf).filter(user => user !== null))
    const mails = new Map(await Promise.all([...users].map(async user => [user, await this.#mailOf(user)] as const)))
    const jobs = await Promise.all(
      orders.map(async (order): Promise<Job | undefined> => {
        const { id, queue, target, trigger, message, extractor = queue, chain = [], parameters = {}, keysUntil } = order
        const user = userOf(order)
        const limit = keysUntil === undefined ? {} : { keysUntil: keysUntil.toISOString() }
        const isOpen = await this.#extractions.submitted(id, { target, extractor, queue, user, trigger, chain, ...limit })
        const notifies = (user === null ? undefined : mails.get(user)) ?? []
        return isOpen
          ? {
              id,
              queue,
              target,
              user,
              message: message({ jobId: id, host: this.#host ?? this.#installation.baseUrl, notifies }),
              parameters,
            }
          : undefined
      }),
    )
    return jobs.filter(job => job !== undefined)
  }

  async #mailOf(user: string): Promise<readonly string[]> {
    const owner = await this.#users.get(user)
    return owner ? [owner.email] : []
  }
}
wire(JobFactory, Config, StoredExtractions, Users, Installation)
