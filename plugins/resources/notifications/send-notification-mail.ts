import {
  and,
  Clock,
  CommitConflict,
  type Contributions,
  DocumentStore,
  eq,
  Installation,
  Log,
  Mailer,
  range,
  type Site,
  Sites,
  type StoredEvent,
  Users,
  wire,
} from 'pounce/sdk'
import { isUndeliverable, siteName } from 'pounce/sdk/kit'
import { Inbox, notifications } from './inbox.ts'
import { StoredPreferences } from './preferences.ts'

const hourMs = 3_600_000
/** Maximum emails per hour to one user; the inbox has all notifications. */
const maxPerHour = 20

const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim()

/** Sends notifications by email to users who chose that, while they may still view the subject. */
export class SendNotificationMail {
  readonly #documents: DocumentStore
  readonly #inbox: Inbox
  readonly #users: Users
  readonly #preferences: StoredPreferences
  readonly #sites: Contributions<Site>
  readonly #mailer: Mailer
  readonly #installation: Installation
  readonly #clock: Clock
  readonly #log: Log

  constructor(
    documents: DocumentStore,
    inbox: Inbox,
    users: Users,
    preferences: StoredPreferences,
    sites: Contributions<Site>,
    mailer: Mailer,
    installation: Installation,
    clock: Clock,
    log: Log,
  ) {
    this.#documents = documents
    this.#inbox = inbox
    this.#users = users
    this.#preferences = preferences
    this.#sites = sites
    this.#mailer = mailer
    this.#installation = installation
    this.#clock = clock
    this.#log = log
  }

  async handle({ data: { notification: id } }: StoredEvent<'notification.created'>): Promise<void> {
    const notification = await this.#documents.get(notifications, id)
    if (notification?.mail !== 'due') return
    const user = await this.#users.get(notification.user)
    const isWanted = user && (await this.#preferences.wantsMail(user, notification.kind)) && !(await this.#isOften(user.id))
    const [visible] = isWanted ? await this.#inbox.visible(user.id, [notification]) : []
    if (user && visible) {
      const { title, text, path } = visible
      const subject = oneLine(`[${await siteName(this.#sites)}] ${title}`)
      const parts = [`${title}.`, ...(text === '' ? [] : [text]), `${this.#installation.baseUrl}${path}`]
      try {
        await this.#mailer.send({ to: [user.email], subject, text: `${parts.join('\n\n')}\n` })
      } catch (error) {
        if (!isUndeliverable(error)) throw error
        this.#log.warn('Failed to send a notification', { user: user.id, error })
      }
    }
    await this.#settle(id, user && visible ? 'sent' : 'none')
  }

  async #isOften(user: string): Promise<boolean> {
    const since = new Date(this.#clock.now().getTime() - hourMs).toISOString()
    const where = and(eq('user', user), eq('mail', 'sent'), range('created', { gt: since }))
    return (await this.#documents.count(notifications, { using: 'byMail', where, upTo: maxPerHour })) >= maxPerHour
  }

  async #settle(id: string, mail: 'sent' | 'none'): Promise<void> {
    try {
      await this.#documents.commit({ update: id, in: notifications, where: eq('mail', 'due'), set: { mail } })
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
    }
  }
}
wire(SendNotificationMail, DocumentStore, Inbox, Users, StoredPreferences, Sites, Mailer, Installation, Clock, Log)
