import { type StoredEvent, Users, wire } from 'pounce/sdk'
import { type AccountMail, Post } from '../accounts/account-mail.ts'

/** Tells people that there is a new way into their account, so that they notice one that they did not open. */
export class TellLinked {
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
      `Somebody signed in through ${provider}, which says that your e-mail address is theirs. From now on that opens your account.`,
      'If it was not you, tell the people who run the server at once.',
    ])
  }
}
wire(TellLinked, Users, Post)
