import { type After, fullNameOf, Spaces, type UserRecord, Users, wire } from 'pounce/sdk'

/** Whose a space is, and who looks after it, by e-mail. */
export interface SpacePeople {
  readonly owners: readonly string[]
  readonly admins: readonly string[]
}

const nobody: SpacePeople = { owners: [], admins: [] }
const remembered = 5000

/** What a row tells of an account. */
export const personOf = (user: UserRecord | undefined) => ({ name: user ? fullNameOf(user) : '', email: user?.email ?? '' })

/** Finds owners and admins of spaces. */
export class SpacePeopleReader {
  #spaces: Spaces
  #users: Users

  constructor(spaces: Spaces, users: Users) {
    this.#spaces = spaces
    this.#users = users
  }

  /** For one report: each space is looked up once, as long as there are not very many. */
  finder(): (space: string) => Promise<SpacePeople> {
    const known = new Map<string, SpacePeople>()
    let adminRoles: ReadonlySet<string> | undefined
    return async id => {
      adminRoles ??= new Set((await this.#users.roles()).filter(({ name }) => name === 'Admin').map(role => role.id))
      const found = known.get(id) ?? (await this.#of(id, adminRoles))
      if (known.size === remembered) known.clear()
      known.set(id, found)
      return found
    }
  }

  async #of(id: string, adminRoles: ReadonlySet<string>): Promise<SpacePeople> {
    const space = await this.#spaces.get(id)
    if (!space) return nobody
    const owner = await this.#users.get(space.author)
    const admins: string[] = []
    let after: After | undefined
    do {
      const page = await this.#users.peopleOf(id, { limit: 1000, ...(after ? { after } : {}) })
      for (const user of page.items) {
        const held = await this.#users.membershipsOf(user)
        if (held.some(one => one.space === id && adminRoles.has(one.role))) admins.push(user.email)
      }
      after = page.next
    } while (after)
    return { owners: owner ? [owner.email] : [], admins }
  }
}
wire(SpacePeopleReader, Spaces, Users)
