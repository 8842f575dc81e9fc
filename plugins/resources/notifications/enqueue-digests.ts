import {
  and,
  Clock,
  CommitConflict,
  collection,
  configPort,
  DocumentStore,
  eq,
  event,
  Feed,
  isIn,
  Log,
  range,
  type Stored,
  type StoredEvent,
  type Time,
  Unavailable,
  type UserRecord,
  Users,
  wire,
} from 'pounce/sdk'
import { notificationKinds, personalRecords, requireDone } from 'pounce/sdk/kit'
import { config, type Settings } from './config.ts'
import { notifications } from './inbox.ts'
import { type Every, StoredPreferences } from './preferences.ts'

/** Progress of an account that receives digests by email. Its id is that of the account. */
export interface DigestRecord {
  readonly every: Every
  /** Events up to this time were sent, or there were none. */
  readonly told: Time
  /** An email about events from `told` to this time is being sent; null when none is. */
  readonly until: Time | null
  /** The time of the next check. */
  readonly due: Time
}

/** Accounts that receive digests, by due time. */
export const digests = collection<DigestRecord>()('notifications.digests', { byDue: { on: ['due'] } })

const hourMs = 3_600_000

const periodMs: Readonly<Record<Every, number>> = { hourly: hourMs, daily: 24 * hourMs }

export const PersonalDigests = personalRecords({
  name: 'notifications',
  summary: 'Your email digest setting, and the time of the last digest.',
  in: digests,
  isOf: (digest, { id }) => digest.id === id,
  show: ({ every, told, due }) => ({ every, told, due }),
  erase: () => 'remove',
})

const batchSize = 100

/** Finds accounts whose digest is due, and requests an email for those with new events. */
export class EnqueueDigests {
  #settleMs: number
  #documents: DocumentStore
  #users: Users
  #feed: Feed
  #preferences: StoredPreferences
  #clock: Clock
  #log: Log

  constructor(
    { settleSeconds }: Settings,
    documents: DocumentStore,
    users: Users,
    feed: Feed,
    preferences: StoredPreferences,
    clock: Clock,
    log: Log,
  ) {
    this.#preferences = preferences
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
        limit: batchSize,
      })
      if (items.length === 0) return
      for (const digest of items) if (!signal.aborted) await this.#ask(digest)
    }
  }

  /** One update of the record advances its time, so that of two concurrent runs one sends the request. */
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
      this.#log.debug('Digest already requested by another kernel', { user: digest.id })
    }
  }

  /** Undefined after an error: other users are not affected, and this one is checked again at its next due time. */
  async #hasNews({ id, told }: DigestRecord & Stored, until: string): Promise<boolean | undefined> {
    try {
      const user = await this.#users.get(id)
      if (!user || !(await this.#preferences.everyOf(user)) || until <= told) return false
      const where = and(eq('user', id), eq('mail', 'digest'))
      if ((await this.#documents.count(notifications, { using: 'byMail', where, upTo: 1 })) > 0) return true
      if ((await this.#preferences.of(user)).followed !== 'digest') return false
      return (await this.#feed.recentLines(user, { since: told, until, limit: 1 })).lines.length > 0
    } catch (error) {
      if (error instanceof Unavailable) throw error
      this.#log.error('Failed to read the feed of a user', { user: id, error })
      return undefined
    }
  }
}
wire(EnqueueDigests, configPort(config), DocumentStore, Users, Feed, StoredPreferences, Clock, Log)

const concerned = new Set(['notifications', 'status'])

/** Applies preferences: an account that wants digests has a record, others have none. */
export class UpdateDigestOnUserUpdated {
  #documents: DocumentStore
  #users: Users
  #preferences: StoredPreferences
  #clock: Clock

  constructor(documents: DocumentStore, users: Users, preferences: StoredPreferences, clock: Clock) {
    this.#preferences = preferences
    this.#documents = documents
    this.#users = users
    this.#clock = clock
  }

  async handle({ subject: { id }, data: { fields } }: StoredEvent<'user.updated'>): Promise<void> {
    if (!fields.some(field => concerned.has(field))) return
    const [user, known] = await Promise.all([this.#users.get(id), this.#documents.get(digests, id)])
    const every = user && (await this.#preferences.everyOf(user))
    if (user) await this.#withdraw(user)
    if (every === known?.every) return
    try {
      if (!every) await this.#documents.commit({ tombstone: id, in: digests })
      else await this.#keep(id, every, known !== undefined)
    } catch (error) {
      // A concurrent handler has applied the current preferences.
      if (!(error instanceof CommitConflict)) throw error
    }
  }

  /** Waiting notifications of kinds that the user no longer wants in digests stay in the inbox only. */
  async #withdraw(user: UserRecord & Stored): Promise<void> {
    const channels = await this.#preferences.of(user)
    const kinds = notificationKinds.filter(kind => channels[kind] !== 'digest')
    const where = and(eq('user', user.id), eq('mail', 'digest'), isIn('kind', kinds))
    for (;;) {
      const { items } = await this.#documents.find(notifications, { using: 'byMail', where, limit: batchSize })
      if (items.length === 0) return
      requireDone(
        await this.#documents.commitEach(items.map(({ id }) => ({ change: { update: id, in: notifications, set: { mail: 'none' } } }))),
      )
    }
  }

  async #keep(id: string, every: 'hourly' | 'daily', isKnown: boolean): Promise<void> {
    const now = this.#clock.now()
    const due = new Date(now.getTime() + periodMs[every]).toISOString()
    if (isKnown) await this.#documents.commit({ update: id, in: digests, set: { every, due } })
    else await this.#documents.commit({ insert: { id, every, told: now.toISOString(), until: null, due }, into: digests })
  }
}
wire(UpdateDigestOnUserUpdated, DocumentStore, Users, StoredPreferences, Clock)
