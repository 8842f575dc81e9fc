import { Files, fullNameOf, Installation, Mailer, type StoredEvent, Users, wire } from 'pounce/sdk'

const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')

/** Writes to the server admins that somebody wants a file which is archived, so that they can bring it back. */
export class TellAdmins {
  #files: Files
  #users: Users
  #mailer: Mailer
  #installation: Installation

  constructor(files: Files, users: Users, mailer: Mailer, installation: Installation) {
    this.#files = files
    this.#users = users
    this.#mailer = mailer
    this.#installation = installation
  }

  async handle({ subject, actor, at }: StoredEvent<'file.wanted-from-archive'>): Promise<void> {
    const file = await this.#files.get(subject.id)
    const to = (await this.#users.admins()).map(admin => admin.email)
    if (file?.status !== 'ARCHIVED' || to.length === 0) return
    const user = actor === undefined ? undefined : await this.#users.get(actor)
    const who = user ? `${fullNameOf(user)} (${user.email})` : 'Somebody who is not signed in'
    const text = `${who} tried to download the file ${file.name} at ${at}. It is archived; bring it back if it is needed:\n\n`
    const link = `${this.#installation.baseUrl}/files/${file.id}`
    await this.#mailer.send({ to, subject: oneLine(`An archived file is wanted: ${file.name}`), text: `${oneLine(text)}\n\n${link}\n` })
  }
}
wire(TellAdmins, Files, Users, Mailer, Installation)
