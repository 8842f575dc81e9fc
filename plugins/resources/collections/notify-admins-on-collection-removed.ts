import { fullNameOf, Invalid, Log, Mailer, type StoredEvent, Users, wire } from 'pounce/sdk'

const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, 900)

/** Writes to the server admins that a collection was deleted, as Clowder 1.x does. */
export class NotifyAdminsOnCollectionRemoved {
  #users: Users
  #mailer: Mailer
  #log: Log

  constructor(users: Users, mailer: Mailer, log: Log) {
    this.#users = users
    this.#mailer = mailer
    this.#log = log
  }

  async handle({ subject, actor, data: { name } }: StoredEvent<'collection.removed'>): Promise<void> {
    const user = actor === undefined ? undefined : await this.#users.get(actor)
    const said = oneLine(`${user ? fullNameOf(user) : 'The server'} deleted the collection ${name}`)
    for (const { id, email } of await this.#users.admins()) {
      try {
        await this.#mailer.send({ to: [email], subject: said, text: `${said} (${subject.id}).\n` })
      } catch (error) {
        if (!(error instanceof Invalid)) throw error
        this.#log.warn('failed to compose an email about a collection', { user: id, error })
      }
    }
  }
}
wire(NotifyAdminsOnCollectionRemoved, Users, Mailer, Log)
