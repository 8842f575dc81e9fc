import {
  type After,
  anonymousUserId,
  Clock,
  type ContentCount,
  ContentCounts,
  type Contributions,
  DocumentStore,
  Spaces,
  type Stored,
  type UserRecord,
  Users,
  wire,
} from 'pounce/sdk'
import { type CellValue, countIn, fullNameOf, unquoted } from 'pounce/sdk/kit'
import { linesFrom, type Report, Sources } from './report.ts'

const spaceColumns = ['type', 'id', 'name', 'description', 'creator_id', 'created', 'datasets', 'collections', 'users']

const userColumns = [
  ...['type', 'id', 'name', 'email', 'provider', 'last_login', 'days_since_last_login'],
  ...['active', 'admin', 'admin_spaces', 'member_spaces'],
]

const dayMs = 86_400_000

const maxCounted = 100_000

/** Spaces and accounts, one row each. */
export class PeopleReports {
  #documents: DocumentStore
  #sources: Sources
  #spaces: Spaces
  #users: Users
  #counts: Contributions<ContentCount>
  #clock: Clock

  constructor(documents: DocumentStore, sources: Sources, spaces: Spaces, users: Users, counts: Contributions<ContentCount>, clock: Clock) {
    this.#documents = documents
    this.#sources = sources
    this.#spaces = spaces
    this.#users = users
    this.#counts = counts
    this.#clock = clock
  }

  /** The contents of a space are counted up to 100,000. */
  spaces(): Report {
    return { name: 'SpaceMetrics', columns: spaceColumns, lines: format => linesFrom(format, spaceColumns, this.#spaceRows()) }
  }

  /** Anonymous first, as in Clowder 1.x. */
  users(): Report {
    return { name: 'UserMetrics', columns: userColumns, lines: format => linesFrom(format, userColumns, this.#userRows()) }
  }

  async *#spaceRows(): AsyncGenerator<readonly CellValue[]> {
    for await (const { id, name, description, author, created } of this.#spaces.all()) {
      const creator = (await this.#users.get(author)) ? author : ''
      const [datasets, collections, users] = await Promise.all([
        countIn(this.#counts, 'dataset', { kind: 'space', id }, maxCounted),
        countIn(this.#counts, 'collection', { kind: 'space', id }, maxCounted),
        this.#users.countPeople(id, maxCounted),
      ])
      yield ['space', id, name, description, creator, unquoted(created), datasets, collections, users]
    }
  }

  async *#userRows(): AsyncGenerator<readonly CellValue[]> {
    yield ['user', anonymousUserId, 'Anonymous User', '', '', null, null, null, null, null, null]
    const { records, byCreated } = this.#sources.of('user')
    const adminRoles = new Set((await this.#users.roles()).filter(({ name }) => name === 'Admin').map(({ id }) => id))
    const now = this.#clock.now().getTime()
    for await (const user of this.#documents.scan(records, { using: byCreated.using }) as AsyncIterable<UserRecord & Stored>) {
      const { id, email, provider, lastLogin, status } = user
      const days = lastLogin === null ? null : Math.max(0, Math.floor((now - Date.parse(lastLogin)) / dayMs))
      const memberships = await this.#users.membershipsOf(user)
      const spaces = new Set(memberships.map(({ space }) => space))
      const ruled = new Set(memberships.filter(({ role }) => adminRoles.has(role)).map(({ space }) => space))
      yield [
        ...['user', id, fullNameOf(user), email, provider, unquoted(lastLogin), days],
        ...[status !== 'Inactive', status === 'Admin', ruled.size, spaces.size - ruled.size],
      ]
    }
  }
}
wire(PeopleReports, DocumentStore, Sources, Spaces, Users, ContentCounts, Clock)

/** Email addresses of the owner and the admins of a space. */
interface SpacePeople {
  readonly owners: readonly string[]
  readonly admins: readonly string[]
}

const nobody: SpacePeople = { owners: [], admins: [] }

const remembered = 5000

/** The columns of an account. */
export const personOf = (user: UserRecord | undefined) => ({ name: user ? fullNameOf(user) : '', email: user?.email ?? '' })

/** Finds owners and admins of spaces. */
export class SpacePeopleReader {
  #spaces: Spaces
  #users: Users

  constructor(spaces: Spaces, users: Users) {
    this.#spaces = spaces
    this.#users = users
  }

  /** For one report: each space is read once, up to a limit of cached spaces. */
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
        const memberships = await this.#users.membershipsOf(user)
        if (memberships.some(one => one.space === id && adminRoles.has(one.role))) admins.push(user.email)
      }
      after = page.next
    } while (after)
    return { owners: owner ? [owner.email] : [], admins }
  }
}
wire(SpacePeopleReader, Spaces, Users)
