import {
  Datasets,
  DocumentStore,
  eq,
  Files,
  fullNameOf,
  Installation,
  Invalid,
  Log,
  Mailer,
  type Ref,
  type StoredEvent,
  Users,
  wire,
} from 'pounce/sdk'
import { mentions } from './collection.ts'
import { MentionDesk, type Mentions } from './mentions.ts'
import { CommentDesk, type StoredComments } from './stored-comments.ts'

const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')

/** Writes to who is mentioned, while they may see what it is about; again only when nobody knows whether it was sent. */
export class MailMentioned {
  #documents: DocumentStore
  #users: Users
  #files: Files
  #datasets: Datasets
  #comments: StoredComments
  #mentions: Mentions
  #mailer: Mailer
  #installation: Installation
  #log: Log

  constructor(
    documents: DocumentStore,
    users: Users,
    files: Files,
    datasets: Datasets,
    comments: StoredComments,
    told: Mentions,
    mailer: Mailer,
    installation: Installation,
    log: Log,
  ) {
    this.#documents = documents
    this.#users = users
    this.#files = files
    this.#datasets = datasets
    this.#comments = comments
    this.#mentions = told
    this.#mailer = mailer
    this.#installation = installation
    this.#log = log
  }

  async handle({ subject, actor, data: { target, notice } }: StoredEvent<'comment.mentioned'>): Promise<void> {
    const mention = await this.#documents.get(mentions, notice)
    const people = await this.#users.getMany(actor === undefined ? [subject.id] : [subject.id, actor])
    const [user, writer] = [people.get(subject.id), people.get(actor ?? '')]
    if (!mention || mention.isMailed || !user || !writer || !(await this.#mentions.maySee(user, target))) return
    const name = await this.#nameOf(target)
    const comment = mention.comment === null ? undefined : await this.#comments.get(mention.comment)
    const link = `${this.#installation.baseUrl}/${target.kind}s/${target.id}`
    const subjectLine = oneLine(`${fullNameOf(writer)} mentioned you in a comment on ${name}`)
    const said = comment ? `${comment.text}\n\n` : ''
    try {
      await this.#mailer.send({ to: [user.email], subject: subjectLine, text: `${subjectLine}:\n\n${said}${link}\n` })
    } catch (error) {
      if (!(error instanceof Invalid)) throw error
      this.#log.warn('a mail to who is mentioned cannot be written', { user: user.id, error })
    }
    await this.#documents.commit({ update: notice, in: mentions, where: eq('isMailed', false), set: { isMailed: true } })
  }

  async #nameOf({ kind, id }: Ref): Promise<string> {
    const thing = kind === 'file' ? await this.#files.get(id) : await this.#datasets.get(id)
    return `the ${kind} ${thing?.name ?? ''}`.trim()
  }
}
wire(MailMentioned, DocumentStore, Users, Files, Datasets, CommentDesk, MentionDesk, Mailer, Installation, Log)
