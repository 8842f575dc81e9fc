import {
  type AccountStatus,
  type Contributions,
  Installation,
  Log,
  Mailer,
  type Site,
  Sites,
  type Stored,
  type StoredEvent,
  type UserRecord,
  Users,
  wire,
} from 'pounce/sdk'
import { fullNameOf, isMailAddress, siteName } from 'pounce/sdk/kit'

type User = UserRecord & Stored

/** Emails about accounts: to their owners, and to admins who have to act. */
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

  /** Invalid email addresses are skipped, as a retry would not help. */
  async send(to: readonly User[], subject: string, lines: readonly string[]): Promise<void> {
    const [right, wrong] = [to.filter(({ email }) => isMailAddress(email)), to.filter(({ email }) => !isMailAddress(email))]
    if (wrong.length > 0) this.#log.warn('Accounts with an invalid email address', { users: wrong.map(({ id }) => id) })
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

const standings: Readonly<Record<AccountStatus, readonly [subject: string, text: string]>> = {
  Active: ['Your account is active', 'A server admin has activated your account: you can sign in and work.'],
  Inactive: ['Your account is not active', 'A server admin has suspended your account: you cannot sign in until it is reactivated.'],
  ReadOnly: [
    'Your account is read-only',
    'A server admin has made your account read-only: you can view and download, but not change anything.',
  ],
  Admin: ['You are a server admin', 'A server admin has made you a server admin.'],
}

/** Notifies users when an admin changes their account or when its password changes. */
export class NotifyAccountOwner {
  #users: Users
  #post: AccountMail

  constructor(users: Users, post: AccountMail) {
    this.#users = users
    this.#post = post
  }

  async handle({ subject, actor, data: { fields } }: StoredEvent<'user.updated'>): Promise<void> {
    const isAboutStatus = fields.includes('status') && actor !== undefined
    const isAboutPassword = fields.includes('password')
    const user = isAboutStatus || isAboutPassword ? await this.#users.get(subject.id) : undefined
    if (!user) return
    if (isAboutStatus) {
      const [title, text] = standings[user.status]
      await this.#post.send([user], title, [text])
    }
    if (isAboutPassword) {
      const keys = fields.includes('keys') ? 'Its API keys were revoked as well.' : 'Its API keys still work.'
      const text = `The password of your account was changed, and its sessions have ended. ${keys}`
      await this.#post.send([user], 'Your password was changed', [
        text,
        'If this was not you, set a new password immediately and contact the operators of the server.',
      ])
    }
  }
}
wire(NotifyAccountOwner, Users, AccountMail)

/** Notifies the server admins of an account pending approval. */
export class NotifyAdminsOfPendingAccount {
  #users: Users
  #post: AccountMail

  constructor(users: Users, post: AccountMail) {
    this.#users = users
    this.#post = post
  }

  async handle({ subject }: StoredEvent<'user.created'>): Promise<void> {
    const user = await this.#users.get(subject.id)
    if (user?.status !== 'Inactive') return
    const about = `${fullNameOf(user)} (${user.email}) has signed up. The account, with the id ${user.id}, is pending activation by an admin.`
    const how = `To activate it, send {"active": ["${user.id}"]} to POST /api/admin/users.`
    await this.#post.send(await this.#users.admins(), 'An account is pending approval', [about, how])
  }
}
wire(NotifyAdminsOfPendingAccount, Users, AccountMail)
