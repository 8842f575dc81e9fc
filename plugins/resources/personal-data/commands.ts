import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { type Command, Invalid, type Person, Users, wire } from 'pounce/sdk'
import { PersonalErasure } from './erasure.ts'
import { PersonalExport } from './export.ts'

type Input = Parameters<Command['run']>[0]
const emailArgument = [{ name: 'email', summary: 'Email of the account' }] as const

const accountOf = async (users: Users, email: string): Promise<Person> => {
  const user = await users.byEmail(email)
  if (!user) throw new Invalid(`No account found for ${email}`)
  return user
}

/** `pounce user export`. */
export class ExportUser implements Command {
  readonly name = 'user export'
  readonly summary = 'Export the personal data of an account as a ZIP of JSON files'
  readonly arguments = emailArgument
  readonly options = [{ name: 'to', summary: 'ZIP file to write; must not exist', takesValue: true, isRequired: true, isPath: true }]
  readonly #users: Users
  readonly #exporting: PersonalExport

  constructor(users: Users, exporting: PersonalExport) {
    this.#users = users
    this.#exporting = exporting
  }

  async run(input: Input) {
    const { id, email } = await accountOf(this.#users, input.arguments['email'] ?? '')
    const file = String(input.options['to'])
    const { open } = await this.#exporting.of(id, undefined)
    try {
      await pipeline(await open(), createWriteStream(file, { flags: 'wx', mode: 0o600 }))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code?.startsWith('E')) throw new Invalid(`${file} cannot be written`, { cause: error })
      throw error
    }
    return { id, email, file }
  }
}
wire(ExportUser, Users, PersonalExport)

/** `pounce user erase`. */
export class EraseUser implements Command {
  readonly name = 'user erase'
  readonly summary = 'Erase the personal data of an account; cannot be undone'
  readonly arguments = emailArgument
  readonly options = [{ name: 'heir', summary: 'Email of the account that inherits the resources of the user', takesValue: true }]
  readonly #users: Users
  readonly #erasing: PersonalErasure

  constructor(users: Users, erasing: PersonalErasure) {
    this.#users = users
    this.#erasing = erasing
  }

  async run(input: Input) {
    const { id, email } = await accountOf(this.#users, input.arguments['email'] ?? '')
    const heir = input.options['heir']
    const successor = typeof heir === 'string' ? (await accountOf(this.#users, heir)).id : undefined
    await this.#erasing.request(id, successor, undefined)
    return { id, email, erasure: 'requested' }
  }
}
wire(EraseUser, Users, PersonalErasure)
