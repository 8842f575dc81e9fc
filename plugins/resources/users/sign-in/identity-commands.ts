import { type Command, event, Invalid, Users, wire } from 'pounce/sdk'
import { namedAccount } from '../accounts/user-commands.ts'
import { OutsideAccounts } from './outside-accounts.ts'
import { StoredSessions } from './stored-sessions.ts'

type Input = Parameters<Command['run']>[0]
const email = { name: 'email', summary: 'Email of the account' } as const
const provider = { name: 'provider', summary: '`ldap`, or the name of an OpenID provider' } as const

/** `pounce user link`: for people who were moved in a directory, and for programs that have tokens of a provider. */
export class LinkIdentity implements Command {
  readonly name = 'user link'
  readonly summary = 'Link an identity at a sign-in provider to an account'
  readonly arguments = [email, provider, { name: 'subject', summary: 'Subject at the provider: `sub`, or the DN in lower case' }]
  #users: Users
  #outside: OutsideAccounts

  constructor(users: Users, outside: OutsideAccounts) {
    this.#users = users
    this.#outside = outside
  }

  async run(input: Input) {
    const user = await namedAccount(this.#users, input)
    const { provider: name = '', subject = '' } = input.arguments
    if (!/^[a-z][a-z0-9-]{0,63}$/.test(name) || name === 'userpass') throw new Invalid(`${name} is not a provider with linked accounts`)
    if (subject.trim() === '') throw new Invalid('The subject at the provider is required')
    const holder = await this.#outside.known({ provider: name, subject })
    if (holder && holder.id !== user.id)
      throw new Invalid(`This identity is already linked to the account ${holder.email}; unlink it first with pounce user unlink`)
    const linked = event('user.linked', { kind: 'user', id: user.id }, { provider: name })
    const { identities = [] } =
      holder ?? (await this.#users.change(user.id, { addToSet: { identities: [`${name} ${subject}`] } }, [linked]))
    return { email: user.email, identities: identities.join(', ') }
  }
}
wire(LinkIdentity, Users, OutsideAccounts)

/** `pounce user unlink`. */
export class UnlinkIdentity implements Command {
  readonly name = 'user unlink'
  readonly summary = 'Unlink all identities at sign-in providers from an account; its sessions end'
  readonly arguments = [email, provider]
  #users: Users
  #sessions: StoredSessions

  constructor(users: Users, sessions: StoredSessions) {
    this.#users = users
    this.#sessions = sessions
  }

  async run(input: Input) {
    const user = await namedAccount(this.#users, input)
    const gone = (user.identities ?? []).filter(identity => identity.startsWith(`${input.arguments['provider']} `))
    const changed = event('user.updated', { kind: 'user', id: user.id }, { fields: ['identities'] })
    const { identities = [] } = gone.length === 0 ? user : await this.#users.change(user.id, { pull: { identities: gone } }, [changed])
    await this.#sessions.revokeAll(user.id, user.id)
    return { email: user.email, identities: identities.join(', ') }
  }
}
wire(UnlinkIdentity, Users, StoredSessions)
