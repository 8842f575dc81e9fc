import {
  afterParameter,
  type Caller,
  Conflict,
  type GroupRecord,
  Installation,
  Invalid,
  isServerAdmin,
  linkToNext,
  localSource,
  NotFound,
  pageOf,
  readNamedAfter,
  routesFor,
  type Stored,
  s,
  signedIn,
} from 'pounce/sdk'
import { StoredGroups } from './stored-groups.ts'

const route = routesFor('groups', { groups: StoredGroups, installation: Installation })
const params = s.Object({ id: s.id() })

const GroupJson = s.model(
  'Group',
  s.Object({
    id: s.id(),
    name: s.String(),
    description: s.String(),
    source: s.String({ description: '`local`, or the provider that determines the members at each sign-in' }),
    created: s.v1Date(),
    external: s.Optional(s.Union([s.String(), s.Null()], { description: 'Name at the provider; visible to server admins only' })),
    spaces: s.Optional(s.Integer({ description: 'Number of spaces it is a member of; visible to server admins only' })),
  }),
)

const shown = ({ id, name, description, source, created, external, memberships }: GroupRecord & Stored, caller: Caller) => ({
  ...{ id, name, description, source, created: s.toV1Date(created) },
  ...(isServerAdmin(caller) ? { external, spaces: memberships.length } : {}),
})

export const listGroups = route({
  method: 'GET',
  path: '/api/groups',
  summary: 'List groups by name',
  description: 'An addition to Clowder 1.x. Any user may list groups, but not their members or spaces.',
  permission: 'signedIn',
  query: s.Object({ limit: s.Integer({ default: 100, minimum: 1, maximum: 1000 }), after: afterParameter(1000) }),
  responses: { 200: s.Array(GroupJson) },
  throws: [Invalid],
  async handle({ query, caller, url }, { groups, installation }) {
    const page = await groups.page(pageOf(query, readNamedAfter))
    const body = page.items.map(group => shown(group, caller))
    return { status: 200, body, ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})

export const getGroup = route({
  method: 'GET',
  path: '/api/groups/:id',
  summary: 'Get a group',
  permission: 'signedIn',
  params,
  responses: { 200: GroupJson },
  throws: [NotFound],
  async handle({ params, caller }, { groups }) {
    const group = await groups.get(params.id)
    if (!group) throw new NotFound('group')
    return { status: 200, body: shown(group, caller) }
  },
})

export const createGroup = route({
  method: 'POST',
  path: '/api/groups',
  summary: 'Create a group',
  description: 'With `source` and `external` it is a group of a directory or identity provider: members are updated at each sign-in there.',
  permission: 'serverAdmin',
  body: s.model(
    'NewGroup',
    s.Object({
      name: s.line(200),
      description: s.Optional(s.prose(2000)),
      source: s.Optional(
        s.String({ pattern: '^[a-z0-9][a-z0-9-]{0,63}$', description: '`local`, or the id of a provider such as `ldap`' }),
      ),
      external: s.Optional(s.line(1000)),
    }),
  ),
  responses: { 200: s.Object({ id: s.id() }) },
  throws: [Invalid, Conflict],
  async handle({ body: { name, description = '', source = localSource, external = null }, caller }, { groups }) {
    const { id } = await groups.create({ name, description, source, external, author: signedIn(caller).id })
    return { status: 200, body: { id } }
  },
})

export const updateGroup = route({
  method: 'PUT',
  path: '/api/groups/:id',
  summary: 'Update the name and description of a group',
  description: 'Absent members stay unchanged.',
  permission: 'serverAdmin',
  params,
  body: s.Object({ name: s.Optional(s.line(200)), description: s.Optional(s.prose(2000)) }),
  responses: { 200: s.success() },
  throws: [Invalid, NotFound, Conflict],
  async handle({ params, body, caller }, { groups }) {
    await groups.describe(params.id, body, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const deleteGroup = route({
  method: 'DELETE',
  path: '/api/groups/:id',
  summary: 'Delete a group',
  description: 'Its members lose the rights they have through it.',
  permission: 'serverAdmin',
  params,
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params, caller }, { groups }) {
    await groups.remove(params.id, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})
