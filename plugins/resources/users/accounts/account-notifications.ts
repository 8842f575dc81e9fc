import { type AccountStatus, fullNameOf, type StoredEvent, Users, wire } from 'pounce/sdk'
import { AccountMail } from './account-mail.ts'

const standings: Readonly<Record<AccountStatus, readonly [subject: string, text: string]>> = {
  Active: ['Your account is active', 'A server admin has activated your account: you can sign in and work.'],
  Inactive: ['Your account is not active', 'A server admin has suspended your account: you cannot sign in until it is activated again.'],
  ReadOnly: [
    'Your account is read-only',
    'A server admin has made your account read-only: you can view and download, but not change anything.',
  ],
  Admin: ['You are a server admin', 'A server admin has made you a server admin.'],
}

/** Tells people what an admin, or whoever knew their password, did with their account. */
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

/** Tells the server admins of an account that waits for one of them. */
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
    const about = `${fullNameOf(user)} (${user.email}) has signed up. The account has the id ${user.id} and waits until an admin activates it.`
    await this.#post.send(await this.#users.admins(), 'An account waits for you', [about])
  }
}
wire(NotifyAdminsOfPendingAccount, Users, AccountMail)
