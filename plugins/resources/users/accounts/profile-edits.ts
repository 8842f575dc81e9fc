import {
  CommitConflict,
  Conflict,
  type Contributions,
  eq,
  event,
  Forbidden,
  Invalid,
  PickLists,
  StepUpRequired,
  type Stored,
  s,
  type UserRecord,
  Users,
  wire,
} from 'pounce/sdk'
import { Passwords } from 'pounce/sdk/kit'
import { AccountSignIn, ofPassword } from '../sign-in/sign-in.ts'

const clearable = <T extends s.TSchema>(schema: T) => s.Optional(s.Union([schema, s.Null()], { description: 'Null deletes the value' }))

const projects = () => clearable(s.Array(s.line(200), { maxItems: 100 }))

/** The fields of an account that its owner may change. Other members of a body are ignored. */
export const ProfileChange = s.model(
  'ProfileChange',
  s.Object({
    firstName: s.Optional(s.line(200)),
    lastName: s.Optional(s.line(200)),
    biography: clearable(s.prose(10_000)),
    institution: clearable(s.line(200)),
    orcidId: clearable(s.String({ pattern: '^(https://orcid\\.org/)?\\d{4}-\\d{4}-\\d{4}-\\d{3}[\\dX]$' })),
    position: clearable(s.line(200)),
    currentprojects: projects(),
    pastprojects: projects(),
    avatarUrl: clearable(s.String({ maxLength: 2000, pattern: '^https://[^\\s"\'<>\\\\^`{|}]+$' })),
    notifications: s.Optional(
      s.Union([s.Literal('none'), s.Literal('direct'), s.Literal('hourly'), s.Literal('daily')], {
        description: 'Email notifications: none, only those addressed to the user, or also a digest of what they follow',
      }),
    ),
  }),
)

export type ProfileChange = s.Static<typeof ProfileChange>

/** Changes profiles of users. */
export class ProfileEdits {
  #users: Users
  #lists: Contributions<PickLists>

  constructor(users: Users, lists: Contributions<PickLists>) {
    this.#users = users
    this.#lists = lists
  }

  /** Absent fields are unchanged. Throws `Invalid` for an institution or project that is not in the lists. */
  async change(id: string, change: ProfileChange, actor: string | undefined): Promise<UserRecord & Stored> {
    const { firstName, lastName, notifications, ...edits } = await this.#spelled(change)
    const names = Object.entries({ firstName: firstName?.trim(), lastName: lastName?.trim(), notifications }).filter(
      ([, to]) => to !== undefined,
    )
    const profile = Object.entries(edits).filter(([, to]) => to !== undefined)
    const fields = [...names.map(([name]) => name), ...(profile.length > 0 ? ['profile'] : [])]
    if (fields.length === 0) throw new Invalid(`Nothing to change: send one of ${Object.keys(ProfileChange.properties).join(', ')}`)
    const set = Object.fromEntries([...names, ...profile.filter(([, to]) => to !== null).map(([name, to]) => [`profile.${name}`, to])])
    const unset = profile.filter(([, to]) => to === null).map(([name]) => `profile.${name}`)
    return this.#users.change(id, { set, unset }, [event('user.updated', { kind: 'user', id }, { fields }, actor)])
  }

  /** Uses the spelling of institutions and projects in the lists. */
  async #spelled(change: ProfileChange): Promise<ProfileChange> {
    const { institution, currentprojects, pastprojects } = change
    const [institutions, projects] = await Promise.all([
      this.#known('institutions', institution ? [institution] : []),
      this.#known('projects', [...(currentprojects ?? []), ...(pastprojects ?? [])]),
    ])
    return {
      ...change,
      ...(institution ? { institution: institutions.get(institution) ?? institution } : {}),
      ...(currentprojects ? { currentprojects: currentprojects.map(name => projects.get(name) ?? name) } : {}),
      ...(pastprojects ? { pastprojects: pastprojects.map(name => projects.get(name) ?? name) } : {}),
    }
  }

  async #known(list: 'institutions' | 'projects', names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const [lists] = this.#lists.all()
    if (lists === undefined || names.length === 0) return new Map()
    const known = await lists.known(list, names)
    const unknown = names.find(name => !known.has(name))
    if (unknown !== undefined) throw new Invalid(`Unknown name ${unknown}: see GET /api/${list}, or add it first`)
    return known
  }
}
wire(ProfileEdits, Users, PickLists)

type User = UserRecord & Stored

/** Changes an account's own password, given the current one. */
export class PasswordChange {
  #users: Users
  #signIn: AccountSignIn
  #passwords = new Passwords()

  constructor(users: Users, signIn: AccountSignIn) {
    this.#users = users
    this.#signIn = signIn
  }

  /**
   * Returns the changed account; all its sessions have ended. The current password is throttled like sign-in: throws `NotSignedIn` for a
   * wrong one, `TooMany` after too many.
   */
  async change(
    id: string,
    present: string,
    next: string,
    { revokesKeys, address, isBySession }: { readonly revokesKeys: boolean; readonly address: string; readonly isBySession: boolean },
  ): Promise<User> {
    const user = await this.#users.get(id)
    if (user?.provider !== 'userpass') throw new Forbidden('This account signs in with a provider and has no password here')
    if (user.secondFactor && !isBySession)
      throw new StepUpRequired('Changing the password of an account with a second factor requires a session that has used it')
    const { passwordHash } = await this.#signIn.withBasic(user.email, present, address).catch(ofPassword)
    const changed = event('user.updated', { kind: 'user', id }, { fields: revokesKeys ? ['password', 'keys'] : ['password'] }, id)
    const set = { passwordHash: await this.#passwords.hash(next) }
    try {
      return await this.#users.change(id, { set, where: eq('passwordHash', passwordHash) }, [changed])
    } catch (error) {
      throw error instanceof CommitConflict ? new Conflict('The password was changed concurrently', { cause: error }) : error
    }
  }
}
wire(PasswordChange, Users, AccountSignIn)
