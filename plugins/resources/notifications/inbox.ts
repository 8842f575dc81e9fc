import { createHash } from 'node:crypto'
import {
  type After,
  and,
  Clock,
  CommitConflict,
  collection,
  configPort,
  DocumentStore,
  eq,
  event,
  isIn,
  type NewEvent,
  NotFound,
  ne,
  type Page,
  Policy,
  type Ref,
  range,
  type Stored,
  type Time,
  Users,
  wire,
} from 'pounce/sdk'
import {
  fullNameOf,
  type NotificationKind,
  personalRecords,
  removeFound,
  requireDone,
  type UnreadCount,
  unlessConflict,
} from 'pounce/sdk/kit'
import { config, type Settings } from './config.ts'
import { StoredPreferences } from './preferences.ts'

/** A notification of one user. */
export interface NotificationRecord {
  readonly user: string
  readonly kind: NotificationKind
  /** The actor; null for the system. */
  readonly actor: string | null
  /** The subject: the notification is shown and sent only while the user may view it. Null if no right is required. */
  readonly about: Ref | null
  /** The comment that mentions the user, who must be able to view it too. Absent for other kinds, and in records of earlier versions. */
  readonly comment?: string
  /** Another resource that the title names, which the user must be able to view too. Absent if there is none. */
  readonly related?: Ref
  readonly title: string
  /** The account whose current name is shown before the title; null for an unknown one. Absent: the title is complete. */
  readonly named?: string | null
  /** Additional text for the email, such as a comment. */
  readonly text: string
  /** Path relative to the base URL of the installation. */
  readonly path: string
  readonly created: Time
  readonly read: Time | null
  /** What the notification ends with, such as an invitation; absent if it does not end. */
  readonly lasting?: string
  /** `due` until its email was `sent`; `digest` until a digest included it, then `none`. */
  readonly mail: 'none' | 'due' | 'digest' | 'sent'
}
export type Notification = NotificationRecord & Stored

export const notifications = collection<NotificationRecord>()('notifications', {
  byUser: { on: ['user', 'created'] },
  byUnread: { on: ['user', 'read', 'created'] },
  byMail: { on: ['user', 'mail', 'created'] },
  byAge: { on: ['created'] },
  byPerson: { on: ['user'] },
})

export const PersonalNotifications = personalRecords({
  name: 'notification-inbox',
  summary: 'Your notifications.',
  in: notifications,
  find: ({ id }) => ({ using: 'byUser', where: eq('user', id) }),
  isOf: ({ user }, { id }) => user === id,
  show: ({ kind, title, created, read }) => ({ kind, title, created, read }),
  erase: () => 'remove',
})

/** A notification of a user. `key` identifies it, so that redelivery does not repeat it. */
export interface NewNotification
  extends Pick<NotificationRecord, 'user' | 'kind' | 'actor' | 'about' | 'comment' | 'related' | 'named' | 'title' | 'path'> {
  readonly key: string
  readonly text?: string
  readonly lasting?: string
  /** True if another class sends the email for this kind. */
  readonly isMailedElsewhere?: boolean
}

const dayMs = 86_400_000
const maxUnread = 100
/** Maximum number of pages that are read to count unread ones, if the user may not view most of them. */
const maxCountedPages = 20
const maxTitle = 300
const batchSize = 500

/** What the user must be able to view. */
const subjectsOf = ({ about, comment, related }: Pick<NotificationRecord, 'about' | 'comment' | 'related'>): readonly Ref[] => [
  ...(about ? [about] : []),
  ...(comment === undefined ? [] : [{ kind: 'comment', id: comment } as const]),
  ...(related ? [related] : []),
]

/** The notifications of users. */
export class Inbox implements UnreadCount {
  readonly #documents: DocumentStore
  readonly #users: Users
  readonly #policy: Policy
  readonly #preferences: StoredPreferences
  readonly #clock: Clock

  constructor(documents: DocumentStore, users: Users, policy: Policy, preferences: StoredPreferences, clock: Clock) {
    this.#documents = documents
    this.#users = users
    this.#policy = policy
    this.#preferences = preferences
    this.#clock = clock
  }

  /**
   * Adds new notifications, by the channel that the user chose. Users are not notified of their own actions, nor of resources that they may
   * not view.
   */
  async notify({
    key,
    user: id,
    kind,
    actor,
    about,
    comment,
    related,
    named,
    title,
    text = '',
    path,
    lasting,
    isMailedElsewhere = false,
  }: NewNotification): Promise<void> {
    if (actor === id) return
    const user = await this.#users.get(id)
    if (!user || user.status === 'Inactive') return
    const subjects = { about, ...(comment !== undefined && { comment }), ...(related && { related }) }
    for (const ref of subjectsOf(subjects)) if (!(await this.sees(id, ref))) return
    const channel = (await this.#preferences.of(user))[kind]
    if (channel === 'off') return
    // Followed resources are in the digest through the feed.
    const mail = channel === 'mail' && !isMailedElsewhere ? 'due' : channel === 'digest' && kind !== 'followed' ? 'digest' : 'none'
    const record: NotificationRecord = {
      ...{ user: id, kind, actor, title, text, path },
      ...subjects,
      ...(named !== undefined && { named }),
      ...(lasting !== undefined && { lasting }),
      ...{ created: this.#clock.now().toISOString(), read: null, mail },
    }
    const insert = { id: createHash('sha256').update(`${id}\n${key}`).digest('hex').slice(0, 24), ...record }
    // An invitation that is renewed has one notification, the newest.
    if (lasting !== undefined) await this.#end(id, lasting, insert.id)
    const created = event('notification.created', { kind: 'user', id }, { notification: insert.id, about: kind }, actor ?? undefined)
    try {
      await this.#documents.commit({ insert, into: notifications }, [created])
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
      await this.#sendToo(insert, created)
    }
  }

  /** Of two kinds with one key, such as a reply that mentions the user, the one that is sent by email or in a digest is kept. */
  async #sendToo({ id, created: _, read: __, ...record }: NotificationRecord & { readonly id: string }, created: NewEvent): Promise<void> {
    if (record.mail === 'none') return
    const isOther = and(ne('kind', record.kind), eq('mail', 'none'))
    await unlessConflict(this.#documents.commit({ update: id, in: notifications, where: isOther, set: record }, [created]))
  }

  /** Newest first; without those whose subject the user may no longer view. A page can be short. */
  async page(
    user: string,
    { isUnread, kind }: { readonly isUnread: boolean; readonly kind: NotificationKind | undefined },
    page: { readonly after?: After; readonly limit: number },
  ): Promise<Page<Notification>> {
    const found = await this.#find(user, { isUnread, kind }, page)
    return { ...found, items: await this.#complete(found.items) }
  }

  async #find(
    user: string,
    { isUnread, kind }: Parameters<Inbox['page']>[1],
    page: Parameters<Inbox['page']>[2],
  ): ReturnType<Inbox['page']> {
    const where = and(eq('user', user), ...(isUnread ? [eq('read', null)] : []), ...(kind === undefined ? [] : [eq('kind', kind)]))
    const using = isUnread ? 'byUnread' : 'byUser'
    const sort = { by: 'created', order: 'descending' } as const
    const found = await this.#documents.find(notifications, { using, where, sort, maxScanned: 1000, ...page })
    return { ...found, items: await this.#seen(user, found.items) }
  }

  /** The given notifications that the user may view now, with complete titles. */
  async visible(user: string, some: readonly Notification[]): Promise<readonly Notification[]> {
    return this.#complete(await this.#seen(user, some))
  }

  async #seen(user: string, some: readonly Notification[]): Promise<readonly Notification[]> {
    const person = await this.#users.get(user)
    if (!person) return []
    const caller = await this.#users.callerOf(person)
    const seen = new Set<string>()
    for (const [kind, refs] of Map.groupBy(some.flatMap(subjectsOf), ref => ref.kind))
      for (const id of await this.#policy.seen(caller, kind, [...new Set(refs.map(({ id }) => id))])) seen.add(id)
    return some.filter(one => subjectsOf(one).every(({ id }) => seen.has(id)))
  }

  /** Names are read when titles are shown: they follow the accounts, also when one is erased. */
  async #complete(some: readonly Notification[]): Promise<readonly Notification[]> {
    const people = await this.#users.getMany([...new Set(some.flatMap(({ named }) => named ?? []))])
    return some.map(one => {
      const person = people.get(one.named ?? '')
      const title = one.named === undefined ? one.title : `${person ? fullNameOf(person) : 'Someone'} ${one.title}`
      // The last character may be half of a surrogate pair.
      return { ...one, title: title.slice(0, maxTitle).toWellFormed() }
    })
  }

  /** The number of unread ones that the user may view, up to a hundred. */
  async unread(user: string): Promise<number> {
    let [count, after]: [number, After | undefined] = [0, undefined]
    for (let pages = 0; pages < maxCountedPages; pages += 1) {
      const page = await this.#find(user, { isUnread: true, kind: undefined }, { limit: maxUnread, ...(after && { after }) })
      count = Math.min(maxUnread, count + page.items.length)
      after = page.next
      if (!after || count === maxUnread) break
    }
    return count
  }

  /** Ends a notification that depended on something temporary, such as an invitation. */
  async end(user: string, lasting: string): Promise<void> {
    await this.#end(user, lasting, '')
  }

  async #end(user: string, lasting: string, except: string): Promise<void> {
    const where = and(eq('user', user), eq('lasting', lasting), ne('id', except))
    await removeFound(this.#documents, notifications, { using: 'byUser', where })
  }

  /** Marks one as read or unread. Throws `NotFound` for one of another user. */
  async mark(user: string, id: string, isRead: boolean): Promise<void> {
    const read = isRead ? this.#clock.now().toISOString() : null
    await this.#own(() => this.#documents.commit({ update: id, in: notifications, where: eq('user', user), set: { read } }))
  }

  /** Marks all notifications up to a time as read. */
  async markAll(user: string, until: string): Promise<void> {
    const read = this.#clock.now().toISOString()
    const where = and(eq('user', user), eq('read', null), range('created', { lte: until }))
    for (;;) {
      const { items } = await this.#documents.find(notifications, { using: 'byUnread', where, limit: batchSize })
      if (items.length === 0) return
      requireDone(await this.#documents.commitEach(items.map(({ id }) => ({ change: { update: id, in: notifications, set: { read } } }))))
    }
  }

  async remove(user: string, id: string): Promise<void> {
    await this.#own(() => this.#documents.commit({ tombstone: id, in: notifications, where: eq('user', user) }))
  }

  async #own(change: () => Promise<unknown>): Promise<void> {
    try {
      await change()
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
      throw new NotFound('notification', { cause: error })
    }
  }

  /** Whether a user may view a resource now. */
  async sees(id: string, about: Ref | null): Promise<boolean> {
    if (about === null) return true
    const user = await this.#users.get(id)
    return user !== undefined && (await this.#policy.seen(await this.#users.callerOf(user), about.kind, [about.id])).size > 0
  }
}
wire(Inbox, DocumentStore, Users, Policy, StoredPreferences, Clock)

/** Deletes old notifications, and the oldest of users who have too many. */
export class InboxRetention {
  readonly #settings: Settings
  readonly #documents: DocumentStore
  readonly #clock: Clock

  constructor(settings: Settings, documents: DocumentStore, clock: Clock) {
    this.#settings = settings
    this.#documents = documents
    this.#clock = clock
  }

  async run(signal: AbortSignal): Promise<void> {
    const before = new Date(this.#clock.now().getTime() - this.#settings.keptDays * dayMs).toISOString()
    await removeFound(this.#documents, notifications, { using: 'byAge', where: range('created', { lt: before }), signal })
    let last = ''
    while (!signal.aborted) {
      const sort = { by: 'user', order: 'ascending' } as const
      const [next] = (await this.#documents.find(notifications, { using: 'byPerson', where: range('user', { gt: last }), sort, limit: 1 }))
        .items
      if (!next) return
      last = next.user
      await this.#trim(last)
    }
  }

  /** Trims the notifications of one user. */
  async #trim(user: string): Promise<void> {
    const { maxPerPerson } = this.#settings
    const count = await this.#documents.count(notifications, { using: 'byUser', where: eq('user', user), upTo: maxPerPerson + batchSize })
    if (count <= maxPerPerson) return
    const query = { using: 'byUser', where: eq('user', user), sort: { by: 'created', order: 'ascending' } } as const
    const { items } = await this.#documents.find(notifications, { ...query, limit: Math.min(count - maxPerPerson, batchSize) })
    const ids = items.map(({ id }) => id)
    await removeFound(this.#documents, notifications, { using: 'byUser', where: and(eq('user', user), isIn('id', ids)) })
  }
}
wire(InboxRetention, configPort(config), DocumentStore, Clock)
