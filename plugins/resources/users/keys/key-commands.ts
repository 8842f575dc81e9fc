import { type Command, Invalid, Users, wire } from 'pounce/sdk'
import { namedAccount } from '../accounts/user-commands.ts'
import { ApiKeys } from './api-keys.ts'
import { reachFrom } from './key-reach.ts'

type Input = Parameters<Command['run']>[0]
const emailArgument = { name: 'email', summary: 'Email of the account' } as const
const nameArgument = { name: 'name', summary: 'Name of the key' } as const

/** `pounce key create`. */
export class CreateKey implements Command {
  readonly name = 'key create'
  readonly summary = 'Create an API key and print it once'
  readonly arguments = [emailArgument, nameArgument]
  readonly options = [
    { name: 'scope', summary: '`full`, or `extraction` for the rights of extractors', takesValue: true },
    { name: 'verbs', summary: 'Limit the key to these verbs: read, write, delete and manage, separated by commas', takesValue: true },
    { name: 'spaces', summary: 'Limit the key to these spaces: ids separated by commas', takesValue: true },
    { name: 'expires', summary: 'Expiry date, such as 2027-06-30', takesValue: true },
  ]
  #users: Users
  #keys: ApiKeys

  constructor(users: Users, keys: ApiKeys) {
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
wire(CreateKey, Users, ApiKeys)

/** `pounce key list`. */
export class ListKeys implements Command {
  readonly name = 'key list'
  readonly summary = 'List the API keys of an account'
  readonly arguments = [emailArgument]
  #users: Users
  #keys: ApiKeys

  constructor(users: Users, keys: ApiKeys) {
    this.#users = users
    this.#keys = keys
  }

  async run(input: Input) {
    const user = await namedAccount(this.#users, input)
    const all = await this.#keys.of(user.id)
    return all.map(({ name, prefix, scope, verbs, spaces, created, lastUsed, expires }) => ({
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
wire(ListKeys, Users, ApiKeys)

/** `pounce key revoke`. */
export class RevokeKey implements Command {
  readonly name = 'key revoke'
  readonly summary = 'Revoke an API key'
  readonly arguments = [emailArgument, nameArgument]
  #users: Users
  #keys: ApiKeys

  constructor(users: Users, keys: ApiKeys) {
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
wire(RevokeKey, Users, ApiKeys)
