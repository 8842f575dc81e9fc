import {
  Clock,
  CommitConflict,
  configPort,
  DocumentStore,
  eq,
  event,
  Feed,
  Log,
  range,
  type Stored,
  Unavailable,
  Users,
  wire,
} from 'pounce/sdk'
import { config, type Settings } from './config.ts'
import { type DigestRecord, digests, periodMs, wishOf } from './digest-record.ts'

const batch = 100

/** Looks whose news are due, and has a mail sent to those for whom there are any. */
export class EnqueueDigests {
  #settleMs: number
  #documents: DocumentStore
  #users: Users
  #feed: Feed
  #clock: Clock
  #log: Log

  constructor({ settleSeconds }: Settings, documents: DocumentStore, users: Users, feed: Feed, clock: Clock, log: Log) {
    this.#settleMs = settleSeconds * 1000
    this.#documents = documents
    this.#users = users
    this.#feed = feed
    this.#clock = clock
    this.#log = log
  }

  async run(signal: AbortSignal): Promise<void> {
    const where = range('due', { lte: this.#clock.now().toISOString() })
    while (!signal.aborted) {
      const { items } = await this.#documents.find(digests, {
        using: 'byDue',
        where,
        sort: { by: 'due', order: 'ascending' },
        limit: batch,
      })
      if (items.length === 0) return
      for (const digest of items) if (!signal.aborted) await this.#ask(digest)
    }
  }

  /** One change of the record moves its time on, so that of two who look at once one asks. */
  async #ask(digest: DigestRecord & Stored): Promise<void> {
    const now = this.#clock.now().getTime()
    const until = new Date(now - this.#settleMs).toISOString()
    const due = new Date(now + periodMs[digest.every]).toISOString()
    const hasNews = digest.until !== null || (await this.#hasNews(digest, until))
    const told = hasNews === false && until > digest.told ? { told: until } : {}
    const set = hasNews ? { until, due } : { due, ...told }
    try {
      await this.#documents.commit(
        { update: digest.id, in: digests, where: eq('revision', digest.revision), set },
        hasNews ? [event('digest.due', { kind: 'user', id: digest.id }, {})] : [],
      )
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
      this.#log.debug('digest requested by another user', { user: digest.id })
    }
  }

  /** Undefined when a fault keeps that from being known: the others get theirs, and here it is looked at again when it is due. */
  async #hasNews({ id, told }: DigestRecord & Stored, until: string): Promise<boolean | undefined> {
    try {
      const user = await this.#users.get(id)
      if (!user || !wishOf(user) || until <= told) return false
      return (await this.#feed.newsFor(user, { since: told, until, limit: 1 })).lines.length > 0
    } catch (error) {
      if (error instanceof Unavailable) throw error
      this.#log.error('failed to read the feed of a user', { user: id, error })
      return undefined
    }
  }
}
wire(EnqueueDigests, configPort(config), DocumentStore, Users, Feed, Clock, Log)
