import {
  type Contributions,
  Installation,
  isMailAddress,
  Log,
  Mailer,
  type Site,
  Sites,
  type Stored,
  siteName,
  type UserRecord,
  wire,
} from 'pounce/sdk'

type User = UserRecord & Stored

/** Mails about accounts: to their owners, and to admins who have to do something about one. */
export class AccountMail {
  #mailer: Mailer
  #sites: Contributions<Site>
  #installation: Installation
  #log: Log

  constructor(mailer: Mailer, sites: Contributions<Site>, installation: Installation, log: Log) {
    this.#mailer = mailer
    this.#sites = sites
    this.#installation = installation
    this.#log = log
  }

  /** An address that no mail can have is left out, for asking again would not help. */
  async send(to: readonly User[], subject: string, lines: readonly string[]): Promise<void> {
    const [right, wrong] = [to.filter(({ email }) => isMailAddress(email)), to.filter(({ email }) => !isMailAddress(email))]
    if (wrong.length > 0) this.#log.warn('accounts with an invalid email address', { users: wrong.map(({ id }) => id) })
    if (right.length === 0) return
    const place = `This is about ${await siteName(this.#sites)} at ${this.#installation.baseUrl}/`
    await this.#mailer.send({
      to: right.map(({ email }) => email),
      subject: `[${await siteName(this.#sites)}] ${subject}`,
      text: `${[...lines, place].join('\n\n')}\n`,
    })
  }
}
wire(AccountMail, Mailer, Sites, Installation, Log)
