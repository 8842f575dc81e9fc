import {
  Clock,
  CommitConflict,
  collection,
  configPort,
  DocumentStore,
  eq,
  Feed,
  Log,
  range,
  type Stored,
  type StoredEvent,
  type Time,
  Unavailable,
  Users,
  wire,
} from 'pounce/sdk'
import { type FeedLine, personalRecords } from 'pounce/sdk/kit'
import { activitySentence } from './activity-sentences.ts'
import { config, type Settings } from './config.ts'
import { Inbox } from './inbox.ts'

/** A follower, and up to when they were notified. The id is that of the account. */
interface FollowerRecord {
  readonly told: Time
  readonly due: Time
}

export const followers = collection<FollowerRecord>()('notifications.followers', { byDue: { on: ['due'] } })

export const PersonalFollower = personalRecords({
  name: 'notification-follows',
  summary: 'When you were last notified of the resources that you follow.',
  in: followers,
  isOf: (record, { id }) => record.id === id,
  show: ({ told }) => ({ told }),
  erase: () => 'remove',
})

const everyMs = 3_600_000
const maxLines = 200
const batch = 100

/** Starts notifications for a user who follows a resource. */
export class TrackFollower {
  readonly #documents: DocumentStore
  readonly #clock: Clock

  constructor(documents: DocumentStore, clock: Clock) {
    this.#documents = documents
    this.#clock = clock
  }

  async handle({ subject: { id } }: StoredEvent<'user.followed'>): Promise<void> {
    const now = this.#clock.now()
    const due = new Date(now.getTime() + everyMs).toISOString()
    try {
      await this.#documents.commit({ insert: { id, told: now.toISOString(), due }, into: followers })
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
    }
  }
}
wire(TrackFollower, DocumentStore, Clock)

/** Once an hour, adds one notification for each followed resource with new activity, by the rules of the feed. */
export class NotifyFollowers {
  readonly #settleMs: number
  readonly #documents: DocumentStore
  readonly #users: Users
  readonly #feed: Feed
  readonly #inbox: Inbox
  readonly #clock: Clock
  readonly #log: Log

  constructor({ settleSeconds }: Settings, documents: DocumentStore, users: Users, feed: Feed, inbox: Inbox, clock: Clock, log: Log) {
    this.#settleMs = settleSeconds * 1000
    this.#documents = documents
    this.#users = users
    this.#feed = feed
    this.#inbox = inbox
    this.#clock = clock
    this.#log = log
  }

  async run(signal: AbortSignal): Promise<void> {
    const where = range('due', { lte: this.#clock.now().toISOString() })
    const sort = { by: 'due', order: 'ascending' } as const
    while (!signal.aborted) {
      const { items } = await this.#documents.find(followers, { using: 'byDue', where, sort, limit: batch })
      if (items.length === 0) return
      for (const follower of items) if (!signal.aborted) await this.#notify(follower)
    }
  }

  /** The position is advanced after the notifications are added: a repeated run adds none. */
  async #notify({ id, told, revision }: FollowerRecord & Stored): Promise<void> {
    const now = this.#clock.now().getTime()
    const until = new Date(now - this.#settleMs).toISOString()
    const due = new Date(now + everyMs).toISOString()
    try {
      const user = await this.#users.get(id)
      if (user && until > told) {
        const { lines } = await this.#feed.newsFor(user, { since: told, until, limit: maxLines })
        for (const about of Map.groupBy(lines, line => line.object?.id ?? '').values()) await this.#add(id, about, until)
      }
    } catch (error) {
      if (error instanceof Unavailable) throw error
      this.#log.error('Failed to notify a user of followed resources', { user: id, error })
    }
    try {
      const set = { due, ...(until > told && { told: until }) }
      await this.#documents.commit({ update: id, in: followers, where: eq('revision', revision), set })
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
    }
  }

  async #add(user: string, [newest, ...others]: readonly FeedLine[], until: string): Promise<void> {
    if (!newest?.object || newest.type.startsWith('delete_')) return
    const { kind, id } = newest.object
    const more = others.length === 0 ? '' : ` and ${others.length} more ${others.length === 1 ? 'change' : 'changes'}`
    const title = `${activitySentence(newest)}${more}`
    await this.#inbox.notify({
      key: `followed ${id} ${until}`,
      user,
      kind: 'followed',
      actor: null,
      about: { kind, id },
      named: newest.user,
      title,
      path: `/${kind}s/${id}`,
    })
  }
}
wire(NotifyFollowers, configPort(config), DocumentStore, Users, Feed, Inbox, Clock, Log)
