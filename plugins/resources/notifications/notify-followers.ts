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
import { pathOf } from './notify-users.ts'

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
/** As many as the feed reads at most. */
const maxLines = 2000
const batchSize = 100

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

/** Once an hour, adds one notification for each followed resource or user with new activity, by the rules of the feed. */
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
      const { items } = await this.#documents.find(followers, { using: 'byDue', where, sort, limit: batchSize })
      if (items.length === 0) return
      for (const follower of items) if (!signal.aborted) await this.#notify(follower)
    }
  }

  /** The position is advanced after the notifications are added, and identifies them: a repeated run adds none. */
  async #notify({ id, told, revision }: FollowerRecord & Stored): Promise<void> {
    const now = this.#clock.now().getTime()
    const until = new Date(now - this.#settleMs).toISOString()
    const due = new Date(now + everyMs).toISOString()
    let isDone = false
    try {
      const user = await this.#users.get(id)
      if (user && until > told) {
        const { lines } = await this.#feed.recentLines(user, { since: told, until, limit: maxLines })
        const shown = lines.filter(({ type }) => !type.startsWith('delete_'))
        const followed = new Set(user.followed.map(each => each.id))
        for (const [group, some] of Map.groupBy(shown, line => groupOf(line, followed))) await this.#add(id, group, some, told)
      }
      isDone = until > told
    } catch (error) {
      if (error instanceof Unavailable) throw error
      this.#log.error('Failed to notify a user of followed resources', { user: id, error })
    }
    try {
      const set = { due, ...(isDone && { told: until }) }
      await this.#documents.commit({ update: id, in: followers, where: eq('revision', revision), set })
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
    }
  }

  async #add(user: string, group: string, [newest, ...others]: readonly FeedLine[], since: Time): Promise<void> {
    if (!newest?.object) return
    const { object, source } = newest
    const [about, related] = source && (source.id === group || object.kind === 'comment') ? [source, object] : [object, source]
    const more = others.length === 0 ? '' : ` and ${others.length} more ${others.length === 1 ? 'change' : 'changes'}`
    await this.#inbox.notify({
      key: `followed ${group} ${since}`,
      user,
      kind: 'followed',
      actor: null,
      about: { kind: about.kind, id: about.id },
      ...(related && { related: { kind: related.kind, id: related.id } }),
      named: newest.user,
      title: `${activitySentence(newest)}${more}`,
      path: pathOf(about),
    })
  }
}
wire(NotifyFollowers, configPort(config), DocumentStore, Users, Feed, Inbox, Clock, Log)

/** The followed resource or user that an entry is about. */
const groupOf = ({ object, source, user }: FeedLine, followed: ReadonlySet<string>): string =>
  [object?.id, source?.id, user].find(id => id !== undefined && followed.has(id)) ?? source?.id ?? object?.id ?? ''
