import { Files, Installation, Mailer, type StoredEvent, Users, wire } from 'pounce/sdk'
import { fullNameOf } from 'pounce/sdk/kit'
import { FileDamage } from './file-damage.ts'

const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')

/** Sends emails about a file, with a link to it. */
class FileMail {
  #users: Users
  #mailer: Mailer
  #installation: Installation

  constructor(users: Users, mailer: Mailer, installation: Installation) {
    this.#users = users
    this.#mailer = mailer
    this.#installation = installation
  }

  async admins(): Promise<readonly string[]> {
    return (await this.#users.admins()).map(({ email }) => email)
  }

  /** No effect without recipients. */
  async send(to: readonly string[], file: { readonly id: string }, subject: string, text: string): Promise<void> {
    if (to.length === 0) return
    const link = `${this.#installation.baseUrl}/files/${file.id}`
    await this.#mailer.send({ to, subject: oneLine(subject), text: `${oneLine(text)}\n\n${link}\n` })
  }
}
wire(FileMail, Users, Mailer, Installation)

/** Notifies the server admins that a user requested an archived file, so that they can restore it. */
export class NotifyAdminsOfArchivedFileRequest {
  #files: Files
  #users: Users
  #mail: FileMail

  constructor(files: Files, users: Users, mail: FileMail) {
    this.#files = files
    this.#users = users
    this.#mail = mail
  }

  async handle({ subject, actor, at }: StoredEvent<'file.wanted-from-archive'>): Promise<void> {
    const file = await this.#files.get(subject.id)
    if (file?.status !== 'ARCHIVED') return
    const user = actor === undefined ? undefined : await this.#users.get(actor)
    const who = user ? `${fullNameOf(user)} (${user.email})` : 'An anonymous user'
    const text = `${who} tried to download the file ${file.name} at ${at}. It is archived; restore it if it is needed:`
    await this.#mail.send(await this.#mail.admins(), file, `Archived file requested: ${file.name}`, text)
  }
}
wire(NotifyAdminsOfArchivedFileRequest, Files, Users, FileMail)

/** A failing disk damages many files at once. */
const maxDamageMailsPerDay = 10

/** Notifies the server admins that the stored bytes of a file are damaged, so that they can restore them from a backup. */
export class NotifyAdminsOfDamage {
  #files: Files
  #damage: FileDamage
  #mail: FileMail

  constructor(files: Files, damage: FileDamage, mail: FileMail) {
    this.#files = files
    this.#damage = damage
    this.#mail = mail
  }

  async handle({ subject, at }: StoredEvent<'file.damaged'>): Promise<void> {
    const file = await this.#files.get(subject.id)
    if (!file) return
    const since = (await this.#damage.since(file.id)) ?? at
    const earlier = await this.#damage.markedBefore(file.id, since, maxDamageMailsPerDay)
    if (earlier === maxDamageMailsPerDay) return
    const isLast = earlier === maxDamageMailsPerDay - 1
    const text =
      `At ${at} the stored bytes of the file ${file.name} did not match their checksums. They are not delivered. ` +
      `Restore the blob ${file.blob} from a backup; \`pounce files scrub\` then clears the mark.` +
      (isLast ? ` Further damaged files of this day are not reported by email: see \`pounce doctor\`.` : '')
    await this.#mail.send(await this.#mail.admins(), file, `Stored file damaged: ${file.name}`, text)
  }
}
wire(NotifyAdminsOfDamage, Files, FileDamage, FileMail)

/** Notifies the owner of a file and the server admins that malware was found in it. */
export class NotifyOfQuarantine {
  #files: Files
  #users: Users
  #mail: FileMail

  constructor(files: Files, users: Users, mail: FileMail) {
    this.#files = files
    this.#users = users
    this.#mail = mail
  }

  async handle({ subject, at, data: { signature } }: StoredEvent<'file.quarantined'>): Promise<void> {
    const file = await this.#files.get(subject.id)
    if (!file) return
    const owner = await this.#users.get(file.author)
    const found = `At ${at} malware (${signature}) was found in the file ${file.name}. It cannot be downloaded`
    const title = `Malware found in a file: ${file.name}`
    const advice = 'Delete it, or contact the administrators if you are sure that it is harmless.'
    await this.#mail.send(owner?.email ? [owner.email] : [], file, title, `${found}. ${advice}`)
    const admins = (await this.#mail.admins()).filter(email => email !== owner?.email)
    const by = owner ? ` It was uploaded by ${fullNameOf(owner)} (${owner.email}).` : ''
    await this.#mail.send(admins, file, title, `${found} until it is released.${by} GET /api/admin/quarantine lists all such files.`)
  }
}
wire(NotifyOfQuarantine, Files, Users, FileMail)
