import {
  and,
  Clock,
  type Contributions,
  Datasets,
  DocumentStore,
  eq,
  Files,
  Installation,
  Invalid,
  Log,
  Mailer,
  NotificationPreferences,
  type Ref,
  range,
  type Stored,
  type StoredEvent,
  type UserRecord,
  Users,
  wire,
} from 'pounce/sdk'
import { fullNameOf, type NotificationPreference, wantsMailOf } from 'pounce/sdk/kit'
import { Mentions } from './mentions.ts'
import { mentions, StoredComments } from './stored-comments.ts'

const hourMs = 3_600_000
/** Maximum emails per hour from one user to another; the feed lists all mentions. */
const maxAnHour = 5

const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')

/** Sends emails to mentioned users who may view the subject. Repeated only when it is unknown whether the email was sent. */
export class SendMentionMail {
  #documents: DocumentStore
  #users: Users
  #files: Files
  #datasets: Datasets
  #comments: StoredComments
  #mentions: Mentions
  #preferences: Contributions<NotificationPreference>
  #mailer: Mailer
  #installation: Installation
  #clock: Clock
  #log: Log

  constructor(
    documents: DocumentStore,
    users: Users,
    files: Files,
    datasets: Datasets,
    comments: StoredComments,
    mentioned: Mentions,
    preferences: Contributions<NotificationPreference>,
    mailer: Mailer,
    installation: Installation,
    clock: Clock,
    log: Log,
  ) {
    this.#documents = documents
    this.#users = users
    this.#files = files
    this.#datasets = datasets
    this.#comments = comments
    this.#mentions = mentioned
    this.#preferences = preferences
    this.#mailer = mailer
    this.#installation = installation
    this.#clock = clock
    this.#log = log
  }

  async handle({ subject, actor, data: { target, notice } }: StoredEvent<'comment.mentioned'>): Promise<void> {
    const mention = await this.#documents.get(mentions, notice)
    const people = await this.#users.getMany(actor === undefined ? [subject.id] : [subject.id, actor])
    const [user, writer] = [people.get(subject.id), people.get(actor ?? '')]
    if (!mention || mention.isMailed || !user || !writer || !(await this.#mentions.maySee(user, target))) return
    if (!(await wantsMailOf(this.#preferences, user, 'mention')) || (await this.#isOften(user.id, writer.id)))
      return this.#settle(notice, {})
    await this.#write(user, writer, mention.comment, target)
    await this.#settle(notice, { mailedAt: this.#clock.now().toISOString() })
  }

  async #write(user: UserRecord & Stored, writer: UserRecord, commentId: string | null, target: Ref): Promise<void> {
    const name = await this.#nameOf(target)
    const comment = commentId === null ? undefined : await this.#comments.get(commentId)
    const link = `${this.#installation.baseUrl}/${target.kind}s/${target.id}`
    const subject = oneLine(`${fullNameOf(writer)} mentioned you in a comment on ${name}`)
    const quoted = comment ? `${comment.text}\n\n` : ''
    try {
      await this.#mailer.send({ to: [user.email], subject, text: `${subject}:\n\n${quoted}${link}\n` })
    } catch (error) {
      if (!(error instanceof Invalid)) throw error
      this.#log.warn('Failed to send an email about a mention', { user: user.id, error })
    }
  }

  /** Mentions of one user are processed one at a time, so that all are counted. */
  async #isOften(user: string, by: string): Promise<boolean> {
    const since = new Date(this.#clock.now().getTime() - hourMs).toISOString()
    const where = and(eq('user', user), eq('by', by), range('mailedAt', { gt: since }))
    return (await this.#documents.count(mentions, { using: 'byPeople', where, upTo: maxAnHour })) >= maxAnHour
  }

  async #settle(notice: string, more: { readonly mailedAt?: string }): Promise<void> {
    await this.#documents.commit({ update: notice, in: mentions, where: eq('isMailed', false), set: { isMailed: true, ...more } })
  }

  async #nameOf({ kind, id }: Ref): Promise<string> {
    const resource = kind === 'file' ? await this.#files.get(id) : await this.#datasets.get(id)
    return `the ${kind} ${resource?.name ?? ''}`.trim()
  }
}
wire(
  SendMentionMail,
  DocumentStore,
  Users,
  Files,
  Datasets,
  StoredComments,
  Mentions,
  NotificationPreferences,
  Mailer,
  Installation,
  Clock,
  Log,
)
