import { type Caller, wire } from 'pounce/sdk'
import { fullNameOf, type NameFinder } from 'pounce/sdk/kit'
import { PeopleDirectory } from './people-directory.ts'

/** Finds users whose accounts the caller may view; none for anonymous callers. */
export class AccountNames implements NameFinder {
  readonly kind = 'user'
  #directory: PeopleDirectory

  constructor(directory: PeopleDirectory) {
    this.#directory = directory
  }

  async find(text: string, caller: Caller, limit: number): Promise<readonly { readonly id: string; readonly name: string }[]> {
    if (!caller.user) return []
    const { people } = await this.#directory.page(caller, text, { after: undefined, limit })
    return people.map(person => ({ id: person.id, name: fullNameOf(person) }))
  }
}
wire(AccountNames, PeopleDirectory)
