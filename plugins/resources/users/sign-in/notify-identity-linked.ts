import { type StoredEvent, Users, wire } from 'pounce/sdk'
import { AccountMail } from '../accounts/account-mail.ts'

/** Tells people that there is a new way into their account, so that they notice one that they did not open. */
export class NotifyIdentityLinked {
  readonly #users: Users
  readonly #post: AccountMail

  constructor(users: Users, post: AccountMail) {
    this.#users = users
    this.#post = post
  }

  async handle({ subject, data: { provider } }: StoredEvent<'user.linked'>): Promise<void> {
    const user = await this.#users.get(subject.id)
    if (!user) return
    await this.#post.send([user], 'A new way into your account', [
      `Someone signed in with ${provider} using your email address. This identity is now linked to your account.`,
      'If this was not you, contact the operators of the server immediately.',
    ])
  }
}
wire(NotifyIdentityLinked, Users, AccountMail)
