import {
  CommitConflict,
  Conflict,
  type Contributions,
  DocumentStore,
  eq,
  event,
  exists,
  type Groups,
  Ids,
  Installation,
  Invalid,
  KnownGroups,
  NotFound,
  not,
  type Permission,
  type RoleRecord,
  type StoredEvent,
  wire,
} from 'pounce/sdk'
import { nearest, type PermissionCatalog, updateWithRetry } from 'pounce/sdk/kit'
import { StoredMemberships } from '../accounts/stored-memberships.ts'
import { roles, users } from '../collections.ts'
import { roleIds, StoredRoles } from './stored-roles.ts'

const maxRoles = 200
const builtIn: ReadonlySet<string> = new Set(Object.values(roleIds))
/** Without these, no one could manage a space. */
const keptByAdmin: readonly Permission[] = ['ViewSpace', 'EditSpace']

/** A change to a role; absent fields are unchanged. */
export interface RoleChange {
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly permissions?: readonly string[] | undefined
}

/** Management of roles by server admins. */
export class RoleAdministration {
  #documents: DocumentStore
  #roles: StoredRoles
  #groups: Contributions<Groups>
  #ids: Ids
  #known: PermissionCatalog

  constructor(
    documents: DocumentStore,
    stored: StoredRoles,
    groups: Contributions<Groups>,
    ids: Ids,
    { permissions }: Pick<Installation, 'permissions'>,
  ) {
    this.#documents = documents
    this.#roles = stored
    this.#groups = groups
    this.#ids = ids
    this.#known = permissions
  }

  /** Throws `Taken` for a name in use, `Invalid` for an unknown permission. An empty list grants no rights. */
  async create(role: Omit<RoleRecord, 'permissions'> & { readonly permissions: readonly string[] }, actor: string): Promise<string> {
    if ((await this.#roles.all()).length >= maxRoles) throw new Conflict(`Maximum of ${maxRoles} roles reached`)
    const permissions = this.#checked(role.permissions)
    const id = this.#ids.next()
    const insert = { id, name: plain(role.name), description: role.description, permissions, given: permissions }
    await this.#documents.commit({ insert, into: roles }, [event('role.created', { kind: 'role', id }, {}, actor)])
    this.#roles.forget()
    return id
  }

  /** The three built-in roles keep their names, because clients rely on them, and Admin keeps what is required to manage a space. */
  async change(id: string, wanted: RoleChange, actor: string | undefined): Promise<void> {
    const name = wanted.name === undefined ? undefined : plain(wanted.name)
    const permissions = wanted.permissions && this.#checked(wanted.permissions)
    await updateWithRetry(this.#documents, roles, { kind: 'role', id }, now => {
      if (now.successor !== undefined) throw new NotFound('role')
      const next = {
        name: name ?? now.name,
        description: wanted.description ?? now.description,
        permissions: permissions ? [...permissions, ...now.permissions.filter(each => !this.#known.has(each))] : now.permissions,
      }
      if (builtIn.has(id) && next.name !== now.name) throw new Invalid(`The role ${now.name} cannot be renamed`)
      const lost = id === roleIds.Admin ? keptByAdmin.filter(each => !next.permissions.includes(each)) : []
      if (lost.length > 0) throw new Invalid(`The role Admin must keep ${lost.join(' and ')}, which are required to manage a space`)
      const given = next.permissions.filter(each => !now.permissions.includes(each))
      const revoked = now.permissions.filter(each => !next.permissions.includes(each))
      const fields = [
        ...(['name', 'description'] as const).filter(field => next[field] !== now[field]),
        ...(given.length + revoked.length > 0 ? ['permissions'] : []),
      ]
      if (fields.length === 0) return undefined
      return { set: next, events: [event('role.updated', { kind: 'role', id }, { fields, given, taken: revoked }, actor)] }
    })
    this.#roles.forget()
  }

  /**
   * Its holders immediately hold the successor. Throws `Conflict` when it is in use and no successor is given, `Invalid` for a built-in
   * role and for an unknown successor.
   */
  async remove(id: string, successor: string | undefined, actor: string | undefined): Promise<void> {
    const role = await this.#documents.get(roles, id)
    if (!role || role.successor !== undefined) throw new NotFound('role')
    if (builtIn.has(id)) throw new Invalid(`The role ${role.name} cannot be deleted: it is given to new members or creators of spaces`)
    if (successor === undefined && (await this.#isHeld(id)))
      throw new Conflict(`The role ${role.name} is in use; name the role that replaces it by ?successor=`)
    if (successor !== undefined && (successor === id || !(await this.#roles.has(successor))))
      throw new Invalid('The successor must be a different, existing role')
    const removed = event('role.removed', { kind: 'role', id }, { name: role.name, successor: successor ?? null }, actor)
    const where = not(exists('successor'))
    // Frees the name; an id is not a name that a user would choose.
    const change =
      successor === undefined ? { tombstone: id, in: roles, where } : { update: id, in: roles, where, set: { successor, name: id } }
    try {
      await this.#documents.commit(change, [removed])
    } catch (error) {
      throw error instanceof CommitConflict ? new NotFound('role', { cause: error }) : error
    }
    this.#roles.forget()
  }

  /** In the order in which permissions are listed, each once. */
  #checked(wanted: readonly string[]): readonly string[] {
    const { names } = this.#known
    const unknown = wanted.find(name => !names.has(name))
    if (unknown !== undefined) throw new Invalid(`Unknown permission ${unknown}; did you mean ${nearest(unknown, names)}?`)
    return [...names].filter(name => wanted.includes(name))
  }

  async #isHeld(role: string): Promise<boolean> {
    const query = { using: 'byRole', where: eq('memberships.role', role), upTo: 1 } as const
    if ((await this.#documents.count(users, query)) > 0) return true
    const [known] = this.#groups.all()
    return (await known?.hasRole(role)) ?? false
  }
}
wire(RoleAdministration, DocumentStore, StoredRoles, KnownGroups, Ids, Installation)

/** After a role is deleted, replaces it with its successor in accounts; until then it is resolved when read. */
export class ReplaceRemovedRole {
  #documents: DocumentStore
  #memberships: StoredMemberships

  constructor(documents: DocumentStore, memberships: StoredMemberships) {
    this.#documents = documents
    this.#memberships = memberships
  }

  async handle({ subject: { id } }: StoredEvent<'role.removed'>): Promise<void> {
    for (;;) {
      const { items } = await this.#documents.find(users, { using: 'byRole', where: eq('memberships.role', id), limit: 200 })
      if (items.length === 0) return
      for (const user of items) await this.#memberships.handOver(user.id, id)
    }
  }
}
wire(ReplaceRemovedRole, DocumentStore, StoredMemberships)

const plain = (typed: string): string => {
  const name = typed.normalize('NFC').trim()
  if (name === '') throw new Invalid('The name of a role must not be blank')
  return name
}
