import {
  Clock,
  CommitConflict,
  type Contributions,
  configPort,
  DocumentStore,
  event,
  Mailer,
  range,
  type Site,
  Sites,
  type StoredEvent,
  TooMany,
  Users,
  wire,
} from 'pounce/sdk'
import { durationText, fullNameOf, removeFound, siteName } from 'pounce/sdk/kit'
import { config, type Settings } from './config.ts'
import { letters } from './stored-site.ts'

const hourMs = 3_600_000
const keptMs = 24 * hourMs

/** Messages of users to the server admins. Each is stored before it is sent, so that an outage of the mail server loses none. */
export class AdminMail {
  #perHour: number
  #documents: DocumentStore
  #clock: Clock

  constructor({ lettersPerHour }: Pick<Settings, 'lettersPerHour'>, documents: DocumentStore, clock: Clock) {
    this.#perHour = lettersPerHour
    this.#documents = documents
    this.#clock = clock
  }

  /** Throws `TooMany` above the hourly limit, which is counted across all kernels. */
  async write(user: string, subject: string, body: string): Promise<void> {
    const now = this.#clock.now()
    const hour = Math.floor(now.getTime() / hourMs)
    for (let number = 0; number < this.#perHour; number++) {
      const id = `${user}-${hour}-${number}`
      const insert = { id, user, subject, body, at: now.toISOString(), isSent: false }
      try {
        await this.#documents.commit({ insert, into: letters }, [event('letter.written', { kind: 'user', id: user }, { letter: id }, user)])
        return
      } catch (error) {
        if (!(error instanceof CommitConflict)) throw error
      }
    }
    const leftSeconds = Math.ceil(((hour + 1) * hourMs - now.getTime()) / 1000)
    throw new TooMany(`Too many messages to the admins; try again in ${durationText(leftSeconds)}`, leftSeconds)
  }
}
wire(AdminMail, configPort(config), DocumentStore, Clock)

/** Sends a message to all server admins. */
export class SendAdminMail {
  #documents: DocumentStore
  #users: Users
  #mailer: Mailer
  #sites: Contributions<Site>

  constructor(documents: DocumentStore, users: Users, mailer: Mailer, sites: Contributions<Site>) {
    this.#documents = documents
    this.#users = users
    this.#mailer = mailer
    this.#sites = sites
  }

  async handle({ data }: StoredEvent<'letter.written'>): Promise<void> {
    const letter = await this.#documents.get(letters, data.letter)
    const to = (await this.#users.admins()).map(({ email }) => email)
    if (!letter || letter.isSent || to.length === 0) return
    const [author, place] = await Promise.all([this.#users.get(letter.user), siteName(this.#sites)])
    const from = author ? `${fullNameOf(author)} (${author.email})` : 'A deleted account'
    await this.#mailer.send({ to, subject: `[${place}] ${letter.subject}`, text: `${from} wrote at ${letter.at}:\n\n${letter.body}\n` })
    await this.#documents.commit({ update: letter.id, in: letters, set: { isSent: true } })
  }
}
wire(SendAdminMail, DocumentStore, Users, Mailer, Sites)

/** Deletes messages after a day; by then each was sent or abandoned. */
export class DeleteOldAdminMail {
  #documents: DocumentStore
  #clock: Clock

  constructor(documents: DocumentStore, clock: Clock) {
    this.#documents = documents
    this.#clock = clock
  }

  async run(signal: AbortSignal): Promise<void> {
    const before = new Date(this.#clock.now().getTime() - keptMs).toISOString()
    await removeFound(this.#documents, letters, { using: 'byAt', where: range('at', { lt: before }), signal })
  }
}
wire(DeleteOldAdminMail, DocumentStore, Clock)
