import {
  allPermissions,
  CommitConflict,
  DocumentStore,
  defaultRoles,
  type Permission,
  port,
  type RoleRecord,
  type Stored,
  wire,
} from 'pounce/sdk'
import { roles, type StoredRole } from './collections.ts'

/** A role as rights are decided by it. */
export interface LiveRole {
  readonly name: string
  readonly permissions: ReadonlySet<Permission>
}

/** The same in every installation, so that copies of an installation and imports agree. */
export const roleIds = {
  Viewer: '0000000000000000000000a1',
  Editor: '0000000000000000000000a2',
  Admin: '0000000000000000000000a3',
} as const

const descriptions: Readonly<Record<keyof typeof roleIds, string>> = {
  Viewer: 'Reads what is in the space',
  Editor: 'Reads, adds and changes what is in the space',
  Admin: 'Rules over the space: its content, its settings and its members',
}

/** Well below the second in which a change of roles has to count. */
const freshMs = 500
const isPermission = (name: string): name is Permission => allPermissions.has(name)

/** The roles that people can hold in spaces. */
export class StoredRoles {
  #documents: DocumentStore
  #live: ReadonlyMap<string, LiveRole> = new Map()
  #readAt = Number.NEGATIVE_INFINITY
  #reading: Promise<ReadonlyMap<string, LiveRole>> | undefined

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  /** Makes the three roles if they are new. Twice is no error. */
  async start(): Promise<void> {
    for (const name of ['Viewer', 'Editor', 'Admin'] as const) await this.#ensure(name)
    await this.#giveNewPermissions()
  }

  /** Every role, by name. There are few. */
  async all(): Promise<readonly (RoleRecord & Stored)[]> {
    const page = await this.#documents.find(roles, { using: 'byName', sort: { by: 'name', order: 'ascending' }, limit: 1000 })
    return page.items.map(({ given: _given, ...role }) => role)
  }

  /** Roles by id as they were at most half a second ago. */
  async live(): Promise<ReadonlyMap<string, LiveRole>> {
    if (performance.now() - this.#readAt < freshMs) return this.#live
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #read(): Promise<ReadonlyMap<string, LiveRole>> {
    const startedAt = performance.now()
    const found = await this.all()
    this.#live = new Map(found.map(({ id, name, permissions }) => [id, { name, permissions: new Set(permissions.filter(isPermission)) }]))
    this.#readAt = startedAt
    return this.#live
  }

  async #ensure(name: keyof typeof roleIds): Promise<void> {
    const role: StoredRole = { name, description: descriptions[name], permissions: defaultRoles[name], given: defaultRoles[name] }
    try {
      await this.#documents.commit({ insert: { id: roleIds[name], ...role }, into: roles })
    } catch (error) {
      if (!(error instanceof CommitConflict && error.reason === 'exists')) throw error
    }
  }

  /** A permission that came with a newer program belongs to Admin; one that somebody took away from Admin stays away. */
  async #giveNewPermissions(): Promise<void> {
    const admin = await this.#documents.get(roles, roleIds.Admin)
    const unknown = [...allPermissions].filter(permission => !admin?.given.includes(permission))
    if (unknown.length === 0) return
    await this.#documents.commit({ update: roleIds.Admin, in: roles, addToSet: { permissions: unknown, given: unknown } })
  }
}
wire(StoredRoles, DocumentStore)

/** Inside this plugin: the roles. */
export const Roles = port<StoredRoles>('users.roles')
