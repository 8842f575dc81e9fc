import { type Command, type StoredEvent, Users, wire } from 'pounce/sdk'
import type { SecondFactorChange } from 'pounce/sdk/kit'
import { AccountMail } from '../accounts/account-notifications.ts'
import { namedAccount } from '../accounts/user-commands.ts'
import { FactorEnrolment } from './enrolment.ts'

const sentences: Readonly<Record<SecondFactorChange, string | undefined>> = {
  'totp-enrolled': 'An authenticator app was enrolled as a second factor of your account.',
  'totp-removed': 'The authenticator app was removed from your account.',
  'passkey-added': 'A passkey was added to your account.',
  'passkey-renamed': undefined,
  'passkey-removed': 'A passkey was removed from your account.',
  'recovery-codes-replaced': 'New recovery codes were created for your account; the old ones are no longer valid.',
  'recovery-code-used': 'A recovery code of your account was used.',
  reset:
    'A server admin has removed all second factors from your account and ended its sessions: you can now sign in with the password alone.',
}

/** Notifies users of every change to the second factors of their account. */
export class NotifySecondFactorChanged {
  readonly #users: Users
  readonly #post: AccountMail

  constructor(users: Users, post: AccountMail) {
    this.#users = users
    this.#post = post
  }

  async handle({ subject, data: { change, recoveryCodesLeft } }: StoredEvent<'user.second-factor-changed'>): Promise<void> {
    const text = sentences[change]
    const user = text === undefined ? undefined : await this.#users.get(subject.id)
    if (!user || text === undefined) return
    const left = recoveryCodesLeft === undefined ? [] : [`Recovery codes left: ${recoveryCodesLeft}.`]
    await this.#post.send([user], 'The second factors of your account changed', [
      text,
      ...left,
      'If this was not you, change your password immediately and contact the operators of the server.',
    ])
  }
}
wire(NotifySecondFactorChanged, Users, AccountMail)

/** `pounce user reset-second-factor`: for users who have lost every factor, including the last admin. */
export class ResetSecondFactor implements Command {
  readonly name = 'user reset-second-factor'
  readonly summary = 'Remove all second factors from an account; its sessions end'
  readonly arguments = [{ name: 'email', summary: 'Email of the account' }] as const
  readonly #users: Users
  readonly #enrolment: FactorEnrolment

  constructor(users: Users, enrolment: FactorEnrolment) {
    this.#users = users
    this.#enrolment = enrolment
  }

  async run(input: Parameters<Command['run']>[0]) {
    const { id, email } = await namedAccount(this.#users, input)
    await this.#enrolment.reset(id)
    return { id, email, secondFactor: 'none' }
  }
}
wire(ResetSecondFactor, Users, FactorEnrolment)
