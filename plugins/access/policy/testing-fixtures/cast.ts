import {
  type AccountStatus,
  anonymous,
  type Caller,
  type Kind,
  type Membership,
  type Permission,
  type ReadAccess,
  type Resource,
  type Rights,
} from 'pounce/sdk'
import { defaultRoles, PermissionCatalog } from 'pounce/sdk/kit'
import { ResourcePolicy } from '../resource-policy.ts'

/** A deterministic ID derived from a word. */
export const idOf = (word: string): string => Buffer.from(word.padEnd(12, '.')).toString('hex').slice(0, 24)

/** Rights of resources by `kind:name`, as the plugins would return them. */
export type World = Readonly<Record<string, Partial<Rights>>>

const views: Readonly<Partial<Record<Kind, Permission>>> = {
  space: 'ViewSpace',
  dataset: 'ViewDataset',
  collection: 'ViewCollection',
  folder: 'ViewDataset',
  section: 'ViewSection',
  metadata: 'ViewMetadata',
  comment: 'ViewComments',
  user: 'ViewUser',
  relation: 'ViewRelation',
  sensor: 'ViewGeoStream',
  stream: 'ViewGeoStream',
}
const searched: ReadonlySet<Kind> = new Set<Kind>(['dataset', 'file', 'collection', 'sensor', 'stream'])

/** A kind of resource, as declared by a plugin. */
export const resourceOf = (kind: Kind, rightsOf: Resource['rightsOf']): Resource => ({
  kind,
  view: views[kind] ?? 'ViewFile',
  isSearched: searched.has(kind),
  events: [],
  rightsOf,
})

/** A contributor for every kind in the world, which counts its reads. */
export const sourcesOf = (world: World, reads: { count: number } = { count: 0 }): { all(): readonly Resource[] } => {
  const kinds = [...new Set(Object.keys(world).map(key => key.split(':')[0] as Kind))]
  const all = kinds.map(kind =>
    resourceOf(kind, async ids => {
      reads.count += 1
      const known = new Map(Object.entries(world).map(([key, rights]) => [key, rights]))
      const found = ids.flatMap((id): [string, Rights][] => {
        const rights = [...known].find(([key]) => key.startsWith(`${kind}:`) && idOf(key.slice(kind.length + 1)) === id)?.[1]
        return rights ? [[id, { author: idOf('author'), spaces: [], isPublic: false, state: 'live', ...rights }]] : []
      })
      return new Map(found)
    }),
  )
  return { all: () => all }
}

/** The policy of an installation. */
export const policyOn = (
  sources: { all(): readonly Resource[] },
  { isPrivate = false, allowAnonymousDownload = false, makeGeostreamsPublicReadable = true } = {},
): ResourcePolicy => {
  const access: ReadAccess = { isPrivate, origin: 'configuration', ask: async () => undefined, choose: async () => undefined }
  return new ResourcePolicy({ allowAnonymousDownload, makeGeostreamsPublicReadable }, access, sources, {
    permissions: new PermissionCatalog(),
  })
}

/** A membership with one of the default roles, or with permissions of its own. */
export const member = (space: string, role: keyof typeof defaultRoles | readonly Permission[]): Membership => ({
  space: idOf(space),
  role: typeof role === 'string' ? `role-${role}` : 'role-own',
  ...(typeof role === 'string' ? { roleName: role } : {}),
  permissions: new Set(typeof role === 'string' ? defaultRoles[role] : role),
})

/** A signed-in caller. */
export const someone = (
  name: string,
  memberships: readonly Membership[] = [],
  more: Partial<Caller> & { status?: AccountStatus } = {},
): Caller => {
  const { status = 'Active', ...rest } = more
  return {
    user: { id: idOf(name), email: `${name}@example.org`, fullName: name, status, memberships },
    via: 'session',
    scope: 'full',
    superAdmin: false,
    ...rest,
  }
}

/** The callers of the tests, in the order of the columns of the table. */
export const cast: Readonly<Record<string, Caller>> = {
  anonymous,
  stranger: someone('stranger', [member('elsewhere', 'Admin')]),
  viewer: someone('viewer', [member('lab', 'Viewer')]),
  editor: someone('editor', [member('lab', 'Editor')]),
  spaceAdmin: someone('spaceAdmin', [member('lab', 'Admin')]),
  author: someone('author'),
  readOnlyAdmin: someone('readOnly', [member('lab', 'Admin')], { status: 'ReadOnly' }),
  inactiveAuthor: someone('author', [member('lab', 'Admin')], { status: 'Inactive' }),
  serverAdmin: someone('root', [], { status: 'Admin' }),
  superAdmin: someone('root', [], { status: 'Admin', superAdmin: true }),
  authorsExtractor: someone('author', [], { via: 'key', scope: 'extraction' }),
  service: { via: 'service', scope: 'extraction', superAdmin: false },
}
