import {
  type After,
  Clock,
  Conflict,
  type Contributions,
  event,
  Invalid,
  NotFound,
  type Person,
  type PersonalData,
  PersonalDataSources,
  Spaces,
  type StoredEvent,
  Users,
  wire,
} from 'pounce/sdk'
import { erasedName } from 'pounce/sdk/kit'

const maxNamed = 10

const canAct = ({ status }: Pick<Person, 'status'>): boolean => status === 'Active' || status === 'Admin'

/** Refuses to erase the last server admin, or the last user who can edit a space. */
class LastAdministrators {
  readonly #users: Users
  readonly #spaces: Spaces

  constructor(users: Users, spaces: Spaces) {
    this.#users = users
    this.#spaces = spaces
  }

  /** Throws `Conflict` when no other user could administer the server or edit one of the user's spaces. */
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

const personalFields = ['identities', 'isEmailUnverified', 'groups', 'notifications', 'secondFactor'] as const

/**
 * Erases accounts: the account is locked immediately; personal data is erased through the outbox, and the account becomes pseudonymous
 * last.
 */
export class PersonalErasure {
  readonly #users: Users
  readonly #sources: Contributions<PersonalData>
  readonly #lastOnes: LastAdministrators
  readonly #clock: Clock

  constructor(users: Users, sources: Contributions<PersonalData>, lastOnes: LastAdministrators, clock: Clock) {
    this.#users = users
    this.#sources = sources
    this.#lastOnes = lastOnes
    this.#clock = clock
  }

  /**
   * Resolves when the account is locked and the erasure is scheduled. Repeating it while it is in progress is no error; the first heir then
   * applies.
   */
  async request(id: string, heir: string | undefined, actor: string | undefined): Promise<void> {
    const person = await this.#users.get(id)
    if (!person) throw new NotFound('user')
    if (person.erasure?.done) throw new Conflict('The personal data of this account is already erased')
    const chosen = person.erasure ? person.erasure.heir : (heir ?? null)
    if (!person.erasure) {
      await this.#requireHeir(id, heir)
      await this.#lock(person)
    }
    const requested = person.erasure?.requested ?? this.#clock.now().toISOString()
    const erasureRequested = event('user.erasure-requested', { kind: 'user', id }, { heir: chosen }, actor)
    await this.#users.change(id, { set: { erasure: { requested, heir: chosen, done: null } } }, [erasureRequested])
  }

  /**
   * Every contributor completes what an earlier attempt has left; the account is last, because the others find their records by its name
   * and address.
   */
  async handle({ subject: { id } }: StoredEvent<'user.erasure-requested'>): Promise<void> {
    const person = await this.#users.get(id)
    if (!person?.erasure || person.erasure.done) return
    const heir = person.erasure.heir ?? undefined
    for (const source of this.#sources.all()) await source.erase({ person, heir })
    await this.#pseudonymize(person)
  }

  async #requireHeir(id: string, heir: string | undefined): Promise<void> {
    if (heir === undefined) return
    const account = heir === id ? undefined : await this.#users.get(heir)
    if (!account || account.erasure || (account.status !== 'Active' && account.status !== 'Admin')) {
      throw new Invalid('heir must be the id of another active account')
    }
  }

  /** Two users who are the last ones together may be erased concurrently, so the check is repeated once this one is locked. */
  async #lock(person: Person): Promise<void> {
    const { id, status } = person
    await this.#lastOnes.requireOthers(person)
    await this.#users.change(id, { set: { status: 'Inactive', signedOutAt: this.#clock.now().toISOString() } }, [])
    try {
      await this.#lastOnes.requireOthers(person)
    } catch (error) {
      await this.#users.change(id, { set: { status } }, [])
      throw error
    }
  }

  async #pseudonymize({ id, erasure }: Person): Promise<void> {
    const done = this.#clock.now().toISOString()
    const set = {
      ...erasedName,
      email: `erased-${id}@erased.invalid`,
      provider: 'userpass',
      passwordHash: null,
      status: 'Inactive',
      lastLogin: null,
      termsAccepted: null,
      profile: {},
      memberships: [],
      followed: [],
      erasure: { requested: erasure?.requested ?? done, heir: erasure?.heir ?? null, done },
    }
    const subject = { kind: 'user', id } as const
    // Search and the feed update the name.
    const renamed = event('user.updated', subject, { fields: ['firstName', 'lastName', 'email', 'identities', 'groups'] })
    await this.#users.change(id, { set, unset: personalFields }, [renamed, event('user.erased', subject, { heir: set.erasure.heir })])
  }
}
wire(PersonalErasure, Users, PersonalDataSources, LastAdministrators, Clock)
