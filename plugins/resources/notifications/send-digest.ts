import {
  and,
  CommitConflict,
  type Contributions,
  configPort,
  DocumentStore,
  eq,
  Feed,
  Installation,
  Log,
  Mailer,
  range,
  type Site,
  Sites,
  type Stored,
  type StoredEvent,
  Users,
  wire,
} from 'pounce/sdk'
import { type FeedLine, type FeedResource, isUndeliverable, requireDone, siteName } from 'pounce/sdk/kit'
import { activitySentence } from './activity-sentences.ts'
import { config, type Settings } from './config.ts'
import { type DigestRecord, digests } from './enqueue-digests.ts'
import { Inbox, type Notification, notifications } from './inbox.ts'
import { type Every, StoredPreferences } from './preferences.ts'

/** Truncates text to one line; names can be long and contain any character. */
const oneLine = (text: string, maxLength = 200): string => {
  const plain = text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim()
  // The last character may be half of a surrogate pair.
  return plain.length > maxLength ? `${plain.slice(0, maxLength).toWellFormed()}…` : plain
}

const pages: Readonly<Record<string, string>> = {
  space: 'spaces',
  collection: 'collections',
  dataset: 'datasets',
  file: 'files',
}

const minute = (at: string): string => `${at.slice(0, 10)} ${at.slice(11, 16)}`

const pageOf = (baseUrl: string, { type, object, source }: FeedLine): string => {
  const shown: FeedResource | null = object && object.kind in pages ? object : source
  const page = shown && pages[shown.kind]
  return page && !type.startsWith('delete_') ? `\n    ${baseUrl}/${page}/${shown.id}` : ''
}

/** The digest email. */
export const digestMail = (
  {
    lines,
    isCut,
    notified = [],
  }: {
    readonly lines: readonly FeedLine[]
    readonly isCut: boolean
    readonly notified?: readonly Pick<Notification, 'title' | 'path' | 'created'>[]
  },
  { displayName, every, baseUrl }: { readonly displayName: string; readonly every: Every; readonly baseUrl: string },
): { readonly subject: string; readonly text: string } => {
  const place = oneLine(displayName, 100)
  const total = lines.length + notified.length
  const count = `${isCut ? 'more than ' : ''}${total}`
  const own = notified.map(({ title, path, created }) => `${minute(created)}  ${oneLine(title, 500)}\n    ${baseUrl}${path}`)
  const feedLines = lines.map(
    line => `${minute(line.at)}  ${oneLine(line.who) || 'Someone'} ${oneLine(activitySentence(line), 500)}${pageOf(baseUrl, line)}`,
  )
  const text = [
    ...(own.length === 0 ? [] : [`Your notifications at ${place} (times in UTC):`, own.join('\n\n')]),
    ...(feedLines.length === 0 ? [] : [`Activity at ${place} on the resources that you follow (times in UTC):`, feedLines.join('\n\n')]),
    ...(isCut ? [`More: ${baseUrl}/`] : []),
    `--\nThis email is sent at most once ${every === 'hourly' ? 'an hour' : 'a day'}, and only after new activity. To change the frequency or to unsubscribe, set \`notifications\` in your profile: ${baseUrl}/`,
  ]
  return { subject: `[${place}] ${count} new ${total === 1 && !isCut ? 'event' : 'events'}`, text: `${text.join('\n\n')}\n` }
}

/** Sends digests. Even if several events request it, there is one email per period. */
export class SendDigest {
  #settings: Settings
  #documents: DocumentStore
  #users: Users
  #feed: Feed
  #inbox: Inbox
  #preferences: StoredPreferences
  #sites: Contributions<Site>
  #mailer: Mailer
  #installation: Installation
  #log: Log

  constructor(
    settings: Settings,
    documents: DocumentStore,
    users: Users,
    feed: Feed,
    inbox: Inbox,
    preferences: StoredPreferences,
    sites: Contributions<Site>,
    mailer: Mailer,
    installation: Installation,
    log: Log,
  ) {
    this.#settings = settings
    this.#documents = documents
    this.#users = users
    this.#feed = feed
    this.#inbox = inbox
    this.#preferences = preferences
    this.#sites = sites
    this.#mailer = mailer
    this.#installation = installation
    this.#log = log
  }

  async handle({ subject: { id } }: StoredEvent<'digest.due'>): Promise<void> {
    const digest = await this.#documents.get(digests, id)
    if (!digest || digest.until === null) return
    await this.#send(digest, digest.until)
    await this.#recordSent(id, digest.until)
  }

  async #send({ id, every, told }: DigestRecord & Stored, until: string): Promise<void> {
    const user = await this.#users.get(id)
    if (!user || !(await this.#preferences.everyOf(user))) return
    const isFollowing = (await this.#preferences.of(user)).followed === 'digest'
    const span = { since: told, until, limit: this.#settings.maxLines }
    const feedLines = isFollowing ? await this.#feed.recentLines(user, span) : { lines: [], isCut: false }
    const found = await this.#waitingFor(id)
    const waiting = found.slice(0, this.#settings.maxLines)
    const isCut = feedLines.isCut || found.length > waiting.length
    const notified = await this.#inbox.visible(id, waiting)
    if (feedLines.lines.length === 0 && notified.length === 0) return
    const displayName = await siteName(this.#sites)
    const { subject, text } = digestMail(
      { lines: feedLines.lines, isCut, notified },
      { displayName, every, baseUrl: this.#installation.baseUrl },
    )
    try {
      await this.#mailer.send({ to: [user.email], subject, text })
    } catch (error) {
      if (!isUndeliverable(error)) throw error
      this.#log.warn('Failed to send a digest', { user: id, error })
    }
    const sent = waiting.map(({ id: notification }) => ({ change: { update: notification, in: notifications, set: { mail: 'none' } } }))
    if (sent.length > 0) requireDone(await this.#documents.commitEach(sent))
  }

  /** Notifications that the user chose to receive in digests, oldest first; one more than a digest has. */
  async #waitingFor(user: string): Promise<readonly Notification[]> {
    const where = and(eq('user', user), eq('mail', 'digest'))
    const sort = { by: 'created', order: 'ascending' } as const
    return (await this.#documents.find(notifications, { using: 'byMail', where, sort, limit: this.#settings.maxLines + 1 })).items
  }

  /** If another email was requested meanwhile, its own event covers the rest. */
  async #recordSent(id: string, until: string): Promise<void> {
    try {
      await this.#documents.commit({ update: id, in: digests, where: eq('until', until), set: { told: until, until: null } })
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
      if (error.reason === 'guard') await this.#noteStretch(id, until)
    }
  }

  async #noteStretch(id: string, until: string): Promise<void> {
    try {
      await this.#documents.commit({ update: id, in: digests, where: range('told', { lt: until }), set: { told: until } })
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
      this.#log.debug('Digest already sent', { user: id })
    }
  }
}
wire(SendDigest, configPort(config), DocumentStore, Users, Feed, Inbox, StoredPreferences, Sites, Mailer, Installation, Log)
