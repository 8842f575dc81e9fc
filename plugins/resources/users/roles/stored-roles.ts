import { CommitConflict, DocumentStore, Installation, type Permission, type RoleRecord, type Stored, wire } from 'pounce/sdk'
import { allPermissions, type DefaultRole, defaultRoles, type PermissionCatalog, RecentRead } from 'pounce/sdk/kit'
import { roles, type StoredRole } from '../collections.ts'

/** A role as used to decide about rights. */
export interface LiveRole {
  /** Its own id, or that of the deleted role that it replaces. */
  readonly id: string
  readonly name: string
  readonly permissions: ReadonlySet<Permission>
}

/** The same in every installation, so that copies and imports match. */
export const roleIds = {
  Viewer: '0000000000000000000000a1',
  Editor: '0000000000000000000000a2',
  Admin: '0000000000000000000000a3',
} as const

const descriptions: Readonly<Record<keyof typeof roleIds, string>> = {
  Viewer: 'Can view the contents of the space',
  Editor: 'Can view, add and edit the contents of the space',
  Admin: 'Can manage the space: its contents, its settings and its members',
}

/** Well below the second within which a change of roles must take effect. */
const freshMs = 500

/** The roles that users can hold in spaces. */
export class StoredRoles {
  #documents: DocumentStore
  #permissions: PermissionCatalog
  readonly #recent = new RecentRead(freshMs, () => this.#read())

  constructor(documents: DocumentStore, { permissions }: Pick<Installation, 'permissions'>) {
    this.#documents = documents
    this.#permissions = permissions
  }

  /** Creates the three built-in roles if they do not exist. Idempotent. */
  async start(): Promise<void> {
    for (const name of ['Viewer', 'Editor', 'Admin'] as const) {
      await this.#ensure(name)
      await this.#giveNew(name)
    }
  }

  /** All roles, by name; there are few. Permissions of plugins that are not loaded are hidden, and are effective again once they are. */
  async all(): Promise<readonly (RoleRecord & Stored)[]> {
    return (await this.#stored()).flatMap(({ given: _given, successor, ...role }) =>
      successor === undefined ? [{ ...role, permissions: role.permissions.filter(name => this.#permissions.has(name)) }] : [],
    )
  }

  async has(id: string): Promise<boolean> {
    const role = await this.#documents.get(roles, id)
    return role !== undefined && role.successor === undefined
  }

  /** The role that replaces a deleted one; undefined without a successor. */
  async successorOf(id: string): Promise<string | undefined> {
    return resolved(new Map((await this.#stored()).map(role => [role.id, role])), id)?.id
  }

  /** Roles by id, at most half a second old; a deleted one is resolved to its successor. */
  live(): Promise<ReadonlyMap<string, LiveRole>> {
    return this.#recent.get()
  }

  /** Invalidates the cache, so that a change made here takes effect immediately. */
  forget(): void {
    this.#recent.forget()
  }

  async #stored(): Promise<readonly (StoredRole & Stored)[]> {
    const found: (StoredRole & Stored)[] = []
    for await (const role of this.#documents.scan(roles, { using: 'byName', sort: { by: 'name', order: 'ascending' } })) found.push(role)
    return found
  }

  async #read(): Promise<ReadonlyMap<string, LiveRole>> {
    const byId = new Map((await this.#stored()).map(role => [role.id, role]))
    const live = new Map<string, LiveRole>()
    for (const id of byId.keys()) {
      const role = resolved(byId, id)
      if (role)
        live.set(id, {
          id: role.id,
          name: role.name,
          permissions: new Set(role.permissions.filter((name): name is Permission => this.#permissions.has(name))),
        })
    }
    return live
  }

  async #ensure(name: keyof typeof roleIds): Promise<void> {
    const role: StoredRole = { name, description: descriptions[name], permissions: defaultRoles[name], given: defaultRoles[name] }
    try {
      await this.#documents.commit({ insert: { id: roleIds[name], ...role }, into: roles })
    } catch (error) {
      if (!(error instanceof CommitConflict && error.reason === 'exists')) throw error
    }
  }

  /**
   * Grants a new built-in permission to Admin, and that of a plugin to the roles that it names; a revoked permission is not granted again.
   */
  async #giveNew(name: DefaultRole): Promise<void> {
    const role = await this.#documents.get(roles, roleIds[name])
    const wanted = [...(name === 'Admin' ? allPermissions : []), ...this.#permissions.addedTo(name)]
    const unknown = wanted.filter(permission => !role?.given.includes(permission))
    if (unknown.length === 0) return
    await this.#documents.commit({ update: roleIds[name], in: roles, addToSet: { permissions: unknown, given: unknown } })
  }
}
wire(StoredRoles, DocumentStore, Installation)

type ById = ReadonlyMap<string, StoredRole & Stored>

/**
 * Follows successors to an existing role. If two roles were concurrently made each other's successor, their holders get the least rights.
 */
const resolved = (byId: ById, id: string): (StoredRole & Stored) | undefined => {
  const seen = new Set<string>()
  let role = byId.get(id)
  while (role?.successor !== undefined && !seen.has(role.id)) {
    seen.add(role.id)
    role = byId.get(role.successor)
  }
  return role?.successor === undefined && (role || seen.size === 0) ? role : byId.get(roleIds.Viewer)
}
