import {
  type AccessDecision,
  anonymous,
  type Caller,
  type Contributions,
  Forbidden,
  type Groups,
  isServerAdmin,
  isSuperAdmin,
  KnownGroups,
  NotFound,
  type Permission,
  Policy,
  type Ref,
  Spaces,
  s,
  Users,
  wire,
} from 'pounce/sdk'
import { geoNumberOf } from 'pounce/sdk/geo'

/** The user, permission and resource of a query. */
export interface PermissionQuery {
  /** Id of an account, or `anonymous`; the caller, when absent. */
  readonly user: string | undefined
  readonly permission: Permission
  readonly on: Ref | undefined
}

/** The policy's explanation with the name of the account, or null for anonymous. */
export interface Explained {
  readonly user: { readonly id: string; readonly fullName: string } | null
  readonly verdict: AccessDecision
  readonly because: readonly string[]
}

const numbered = /\b(sensor|stream) ([0-9a-f]{24})\b/g
const mentioned = /\b(space|group) ([0-9a-f]{24})\b/g

/** Explains why a user has or lacks a permission, as far as the caller may view the reasons. */
export class PermissionExplainer {
  #policy: Policy
  #users: Users
  #spaces: Spaces
  #groups: Contributions<Groups>

  constructor(policy: Policy, users: Users, spaces: Spaces, groups: Contributions<Groups>) {
    this.#policy = policy
    this.#users = users
    this.#spaces = spaces
    this.#groups = groups
  }

  /**
   * Throws `Forbidden` for other users unless the caller is a server admin, and `NotFound` for a resource that the caller may not view,
   * unless in superadmin mode.
   */
  async explain(reader: Caller, { user, permission, on }: PermissionQuery): Promise<Explained> {
    const caller = await this.#subject(reader, user)
    // Not by the queried permission: one that is open to everyone would reveal that the resource exists.
    if (on && !isSuperAdmin(reader) && !(await this.#policy.seen(reader, on.kind, [on.id])).has(on.id)) throw new NotFound(on.kind)
    const { verdict, because } = await this.#policy.explain(caller, permission, on, reader)
    const about = caller.user ? { id: caller.user.id, fullName: caller.user.fullName } : null
    return { user: about, verdict, because: await this.#withNames(reader, because) }
  }

  async #subject(reader: Caller, user: string | undefined): Promise<Caller> {
    if (user === undefined || user === reader.user?.id) return reader
    if (user === 'anonymous') return anonymous
    if (!isServerAdmin(reader)) throw new Forbidden('Only a server admin may query the rights of other users')
    const found = s.isId(user) ? await this.#users.get(user) : undefined
    if (!found) throw new NotFound('user')
    return this.#users.callerOf(found)
  }

  /** Adds the names of spaces and groups that the caller may view. */
  async #withNames(reader: Caller, sentences: readonly string[]): Promise<readonly string[]> {
    const ids = { space: new Set<string>(), group: new Set<string>() }
    for (const [, kind, id] of sentences.join('\n').matchAll(mentioned)) ids[kind as keyof typeof ids].add(id as string)
    const [groups] = ids.group.size > 0 ? this.#groups.all() : []
    const seen = ids.space.size > 0 ? await this.#policy.allowed(reader, 'ViewSpace', 'space', [...ids.space].slice(0, 1000)) : []
    const [spaces, known] = await Promise.all([this.#spaces.getMany([...seen]), groups?.getMany([...ids.group].slice(0, 1000))])
    const named = (id: string): string | undefined => spaces.get(id)?.name ?? known?.get(id)?.name
    const withNumbers = (sentence: string): string =>
      sentence.replaceAll(numbered, (_text, kind: string, id: string) => `${kind} ${geoNumberOf(id)}`)
    return sentences.map(sentence =>
      withNumbers(sentence).replaceAll(mentioned, (text, _kind: string, id: string) => {
        const name = named(id)
        return name === undefined ? text : `${text} (${name})`
      }),
    )
  }
}
wire(PermissionExplainer, Policy, Users, Spaces, KnownGroups)
