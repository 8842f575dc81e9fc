import { anonymousUserId, Clock, CommitConflict, DocumentStore, event, Installation, type s, Users, wire } from 'pounce/sdk'
import { type Job, trimEnd } from 'pounce/sdk/kit'
import { type ExtractionRecord, extractions, type Trigger } from './collections.ts'
import { Config, type config } from './config.ts'
import type { Message, MessageContext } from './job-message.ts'
import { submitted } from './run-state.ts'
import type { Target } from './stored-extractions.ts'

/** A requested run. */
export interface JobOrder {
  /** The job's id; identical for repeated requests if the request can be repeated. */
  readonly id: string
  readonly queue: string
  /** The extractor's name, if it differs from that of the queue. */
  readonly extractor?: string
  readonly target: Target
  readonly user: string | null | undefined
  readonly trigger: Trigger
  readonly chain?: readonly string[]
  readonly parameters?: Readonly<Record<string, unknown>>
  /** When the submitting key expires, if it is the key of a job: the new job's key is valid no longer. */
  readonly keysUntil?: Date | undefined
  readonly message: (context: MessageContext) => Message
}

/** The account on whose behalf it runs. Anonymous callers have a special id in records, and no key. */
const userOf = ({ user }: JobOrder): string | null => (user == null || user === anonymousUserId ? null : user)

/** Records requested runs and creates their jobs. */
export class JobFactory {
  #documents: DocumentStore
  #users: Users
  #clock: Clock
  /** Read on each request: a server on a dynamic port has its address only after it has started. */
  #installation: Installation
  #host: string | undefined

  constructor({ clowderUrl }: s.Static<typeof config>, documents: DocumentStore, users: Users, clock: Clock, installation: Installation) {
    this.#host = clowderUrl === undefined ? undefined : trimEnd(clowderUrl, '/')
    this.#documents = documents
    this.#users = users
    this.#clock = clock
    this.#installation = installation
  }

  /**
   * Records the runs concurrently so that the store groups the writes. Resolves to the jobs to publish, in the given order, without those
   * that have ended already.
   */
  async jobsOf(orders: readonly JobOrder[]): Promise<readonly Job[]> {
    const users = new Set(orders.map(userOf).filter(user => user !== null))
    const emails = new Map(await Promise.all([...users].map(async user => [user, await this.#emailOf(user)] as const)))
    const host = this.#host ?? this.#installation.baseUrl
    const jobs = await Promise.all(
      orders.map(async (order): Promise<Job | undefined> => {
        const { id, queue, target, message, parameters = {} } = order
        const user = userOf(order)
        if (!(await this.#record(order, user))) return undefined
        const notifies = (user === null ? undefined : emails.get(user)) ?? []
        return { id, queue, target, user, message: message({ jobId: id, host, notifies }), parameters }
      }),
    )
    return jobs.filter(job => job !== undefined)
  }

  /** True if the run has not ended. A repeated call changes nothing. */
  async #record({ id, queue, target, trigger, extractor = queue, chain = [], keysUntil }: JobOrder, user: string | null): Promise<boolean> {
    const start = this.#clock.now().toISOString()
    const limit = keysUntil === undefined ? {} : { keysUntil: keysUntil.toISOString() }
    const state = { state: 'open', status: submitted, lines: [{ status: submitted, at: start }], start, end: null } as const
    const run: ExtractionRecord = { target, extractor, queue, user, trigger, chain, ...limit, ...state }
    try {
      await this.#documents.commit({ insert: { id, ...run }, into: extractions }, [
        event('extraction.submitted', { kind: 'job', id }, { target, extractor, trigger }, user ?? undefined),
      ])
      return true
    } catch (error) {
      if (!(error instanceof CommitConflict && error.reason === 'exists')) throw error
      return (await this.#documents.get(extractions, id))?.state === 'open'
    }
  }

  async #emailOf(user: string): Promise<readonly string[]> {
    const owner = await this.#users.get(user)
    return owner ? [owner.email] : []
  }
}
wire(JobFactory, Config, DocumentStore, Users, Clock, Installation)
