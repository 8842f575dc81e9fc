import { type Command, Invalid, Users, wire } from 'pounce/sdk'
import { namedAccount } from '../accounts/user-commands.ts'
import { reachFrom } from './key-reach.ts'
import { type Keyring, KeyStore } from './keyring.ts'

type Input = Parameters<Command['run']>[0]
const emailArgument = { name: 'email', summary: 'E-mail of the account' } as const
const nameArgument = { name: 'name', summary: 'Name of the key' } as const

/** `pounce key create`. */
export class CreateKey implements Command {
  readonly name = 'key create'
  readonly summary = 'Make an API key and print it, once'
  readonly arguments = [emailArgument, nameArgument]
  readonly options = [
    { name: 'scope', summary: '`full`, or `extraction` for what extractors do', takesValue: true },
    { name: 'verbs', summary: 'Only these of read, write, delete and manage, joined by commas', takesValue: true },
    { name: 'spaces', summary: 'Only what is in these spaces: ids joined by commas', takesValue: true },
    { name: 'expires', summary: 'Date, such as 2027-06-30, from which on it is refused', takesValue: true },
  ]
  #users: Users
  #keys: Keyring

  constructor(users: Users, keys: Keyring) {
    this.#users = users
    this.#keys = keys
  }

  async run(input: Input) {
    const word = (name: string) => input.options[name]?.toString()
    const reach = reachFrom({ scope: word('scope'), verbs: word('verbs'), spaces: word('spaces'), expires: word('expires') })
    const user = await namedAccount(this.#users, input)
    const name = input.arguments['name'] ?? ''
    const { key } = await this.#keys.create(user.id, name, reach)
    return { email: user.email, name, ...reach, key }
  }
}
wire(CreateKey, Users, KeyStore)

/** `pounce key list`. */
export class ListKeys implements Command {
  readonly name = 'key list'
  readonly summary = 'List the API keys of an account'
  readonly arguments = [emailArgument]
  #users: Users
  #keys: Keyring

  constructor(users: Users, keys: Keyring) {
    this.#users = users
    this.#keys = keys
  }

  async run(input: Input) {
    const user = await namedAccount(this.#users, input)
    const held = await this.#keys.of(user.id)
    return held.map(({ name, prefix, scope, verbs, spaces, created, lastUsed, expires }) => ({
      name,
      key: `${prefix}-****`,
      scope,
      ...(verbs === undefined ? {} : { verbs }),
      ...(spaces === undefined ? {} : { spaces }),
      created,
      lastUsed,
      ...(expires === undefined ? {} : { expires }),
    }))
  }
}
wire(ListKeys, Users, KeyStore)

/** `pounce key revoke`. */
export class RevokeKey implements Command {
  readonly name = 'key revoke'
  readonly summary = 'Revoke an API key'
  readonly arguments = [emailArgument, nameArgument]
  #users: Users
  #keys: Keyring

  constructor(users: Users, keys: Keyring) {
    this.#users = users
    this.#keys = keys
  }

  async run(input: Input) {
    const user = await namedAccount(this.#users, input)
    const name = input.arguments['name'] ?? ''
    if (!(await this.#keys.revoke(user.id, name))) throw new Invalid(`${user.email} has no key named ${name}`)
    return { email: user.email, name, revoked: true }
  }
}
wire(RevokeKey, Users, KeyStore)
