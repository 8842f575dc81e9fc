import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { type Command, event, Invalid, type Stored, type UserRecord, Users, wire } from 'pounce/sdk'
import { Passwords } from 'pounce/sdk/kit'
import { AccountAdministration } from './account-administration.ts'

type Input = Parameters<Command['run']>[0]
const emailArgument = [{ name: 'email', summary: 'Email of the account' }] as const
const passwordOption = {
  name: 'password-file',
  summary: 'File whose first line is the password; by default one is generated and printed',
  takesValue: true,
  isPath: true,
} as const

/** A password in the arguments would be visible in the process list, so it is read from a file or generated. */
const passwordFrom = async (input: Input): Promise<{ readonly password: string; readonly isNew: boolean }> => {
  const file = input.options['password-file']
  if (typeof file !== 'string') return { password: randomBytes(15).toString('base64url'), isNew: true }
  try {
    return { password: (await readFile(file, 'utf8')).split(/\r?\n/)[0] ?? '', isNew: false }
  } catch (error) {
    throw new Invalid(`The file ${file} cannot be read`, { cause: error })
  }
}

/** The account given by the first argument, unless its erasure was requested. */
export const namedAccount = async (users: Users, input: Input): Promise<UserRecord & Stored> => {
  const email = input.arguments['email'] ?? ''
  const user = await users.byEmail(email)
  if (!user || user.erasure) throw new Invalid(`No account found for ${email}`)
  return user
}

const option = (input: Input, name: string, otherwise: string): string => {
  const value = input.options[name]
  return typeof value === 'string' ? value : otherwise
}

/** `pounce user create`. */
export class CreateUser implements Command {
  readonly name = 'user create'
  readonly summary = 'Create an account'
  readonly createsInstallation = true
  readonly arguments = emailArgument
  readonly options = [
    { name: 'first-name', summary: 'First name; by default the part of the email before the @', takesValue: true },
    { name: 'last-name', summary: 'Last name', takesValue: true },
    { name: 'admin', summary: 'Make a server admin', takesValue: false },
    passwordOption,
  ]
  #users: Users

  constructor(users: Users) {
    this.#users = users
  }

  async run(input: Input) {
    const email = input.arguments['email'] ?? ''
    const { password, isNew } = await passwordFrom(input)
    const user = await this.#users.create({
      email,
      password,
      firstName: option(input, 'first-name', email.split('@')[0] ?? ''),
      lastName: option(input, 'last-name', ''),
      status: input.options['admin'] === true ? 'Admin' : 'Active',
    })
    return { id: user.id, email: user.email, status: user.status, ...(isNew ? { password } : {}) }
  }
}
wire(CreateUser, Users)

/** `pounce user promote`. */
export class PromoteUser implements Command {
  readonly name = 'user promote'
  readonly summary = 'Make an account a server admin'
  readonly arguments = emailArgument
  #users: Users
  #accounts: AccountAdministration

  constructor(users: Users, accounts: AccountAdministration) {
    this.#users = users
    this.#accounts = accounts
  }

  async run(input: Input) {
    const { id, email } = await namedAccount(this.#users, input)
    await this.#accounts.setStatus(id, 'Admin')
    return { id, email, status: 'Admin' }
  }
}
wire(PromoteUser, Users, AccountAdministration)

/** `pounce user passwd`. */
export class ChangePassword implements Command {
  readonly name = 'user passwd'
  readonly summary = 'Set the password of an account; its sessions end'
  readonly arguments = emailArgument
  readonly options = [passwordOption]
  #users: Users
  #passwords = new Passwords()

  constructor(users: Users) {
    this.#users = users
  }

  async run(input: Input) {
    const { id, email, provider } = await namedAccount(this.#users, input)
    if (provider !== 'userpass') throw new Invalid(`${email} signs in with ${provider} and has no password here`)
    const { password, isNew } = await passwordFrom(input)
    const passwordHash = await this.#passwords.hash(password)
    await this.#users.change(id, { set: { passwordHash } }, [event('user.updated', { kind: 'user', id }, { fields: ['password'] })])
    return { id, email, ...(isNew ? { password } : {}) }
  }
}
wire(ChangePassword, Users)

/** `pounce user list`. */
export class ListUsers implements Command {
  readonly name = 'user list'
  readonly summary = 'List accounts, oldest first'
  #accounts: AccountAdministration

  constructor(accounts: AccountAdministration) {
    this.#accounts = accounts
  }

  async run() {
    const rows: Record<string, unknown>[] = []
    let page = await this.#accounts.page({ limit: 1000 })
    for (;;) {
      for (const { id, email, firstName, lastName, status, created } of page.items)
        rows.push({ id, email, firstName, lastName, status, created })
      if (!page.next) return rows
      page = await this.#accounts.page({ limit: 1000, after: page.next })
    }
  }
}
wire(ListUsers, AccountAdministration)
