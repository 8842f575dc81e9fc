import { type After, Conflict, type Person, Spaces, Users, wire } from 'pounce/sdk'

const maxNamed = 10
const canAct = ({ status }: Pick<Person, 'status'>): boolean => status === 'Active' || status === 'Admin'

/** Refuses to let the last server admin, or the last who can edit a space, go. */
export class LastAdministrators {
  readonly #users: Users
  readonly #spaces: Spaces

  constructor(users: Users, spaces: Spaces) {
    this.#users = users
    this.#spaces = spaces
  }

  /** `Conflict` when nobody else could administer the server or edit a space as this person can with this status. */
  async requireOthers({ id, status, memberships }: Pick<Person, 'id' | 'status' | 'memberships'>): Promise<void> {
    if (status === 'Admin' && (await this.#users.admins()).every(admin => admin.id === id)) {
      throw new Conflict('This is the last server admin; promote another account first')
    }
    const editing = new Set((await this.#users.roles()).filter(role => role.permissions.includes('EditSpace')).map(role => role.id))
    const edited = canAct({ status }) ? memberships.filter(({ role }) => editing.has(role)).map(({ space }) => space) : []
    const left: string[] = []
    for (const space of edited) if (!(await this.#hasOtherEditor(space, id, editing))) left.push(space)
    if (left.length === 0) return
    const names = [...(await this.#spaces.getMany(left.slice(0, 1000))).values()].map(({ name }) => name)
    if (names.length === 0) return
    const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : ''
    throw new Conflict(
      `These spaces would have no user left who can edit them: ${names.slice(0, maxNamed).join(', ')}${more}; give another user the role Admin there, or delete them first`,
    )
  }

  async #hasOtherEditor(space: string, person: string, editing: ReadonlySet<string>): Promise<boolean> {
    let after: After | undefined
    do {
      const page = await this.#users.membersOf(space, { limit: 200, ...(after ? { after } : {}) })
      for (const member of page.items) {
        const isEditor = member.memberships.some(held => held.space === space && editing.has(held.role))
        if (member.id !== person && canAct(member) && isEditor) return true
      }
      after = page.next
    } while (after)
    return false
  }
}
wire(LastAdministrators, Users, Spaces)
