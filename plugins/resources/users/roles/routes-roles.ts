import { Conflict, Invalid, NotFound, type RoleRecord, routesFor, type Stored, s, signedIn, Users } from 'pounce/sdk'
import { RoleAdministration } from './role-administration.ts'

const route = routesFor('roles', { users: Users, roleAdministration: RoleAdministration })
const params = s.Object({ id: s.id() })
const RoleJson = s.model('Role', s.Object({ id: s.id(), name: s.String(), description: s.String(), permissions: s.Array(s.String()) }))
const permissions = () => s.Array(s.String({ maxLength: 100 }), { maxItems: 200, description: 'An empty list gives no rights' })

const shown = ({ id, name, description, permissions }: RoleRecord & Stored) => ({ id, name, description, permissions: [...permissions] })

export const listRoles = route({
  method: 'GET',
  path: '/api/roles',
  summary: 'List the roles for members of spaces',
  permission: 'signedIn',
  responses: { 200: s.Array(RoleJson) },
  async handle(_request, { users }) {
    return { status: 200, body: (await users.roles()).map(shown) }
  },
})

export const getRole = route({
  method: 'GET',
  path: '/api/roles/:id',
  summary: 'Get a role',
  permission: 'signedIn',
  params,
  responses: { 200: RoleJson },
  throws: [NotFound],
  async handle({ params }, { users }) {
    const role = (await users.roles()).find(({ id }) => id === params.id)
    if (!role) throw new NotFound('role')
    return { status: 200, body: shown(role) }
  },
})

export const createRole = route({
  method: 'POST',
  path: '/api/roles',
  summary: 'Create a role',
  description: 'In Clowder 1.x roles are created on a web page only.',
  permission: 'serverAdmin',
  body: s.model('NewRole', s.Object({ name: s.line(100), description: s.Optional(s.prose(2000)), permissions: permissions() })),
  responses: { 200: s.Object({ id: s.id() }) },
  throws: [Invalid, Conflict],
  async handle({ body: { name, description = '', permissions }, caller }, { roleAdministration }) {
    return { status: 200, body: { id: await roleAdministration.create({ name, description, permissions }, signedIn(caller).id) } }
  },
})

export const updateRole = route({
  method: 'PUT',
  path: '/api/roles/:id',
  summary: 'Update a role',
  description:
    'Absent members stay unchanged; `permissions` replaces all of them, and takes effect for everyone with the role within a second. Viewer, Editor and Admin keep their names, Admin keeps ViewSpace and EditSpace.',
  permission: 'serverAdmin',
  params,
  body: s.model(
    'RoleChange',
    s.Object({ name: s.Optional(s.line(100)), description: s.Optional(s.prose(2000)), permissions: s.Optional(permissions()) }),
  ),
  responses: { 200: s.success() },
  throws: [Invalid, NotFound, Conflict],
  async handle({ params, body, caller }, { roleAdministration }) {
    await roleAdministration.change(params.id, body, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const deleteRole = route({
  method: 'DELETE',
  path: '/api/roles/:id',
  summary: 'Delete a role',
  description: 'Everyone with the role gets the successor. Viewer, Editor and Admin cannot be deleted.',
  permission: 'serverAdmin',
  params,
  query: s.Object({
    successor: s.Optional(s.String({ maxLength: 100, description: 'Id of the successor; required if the role is in use' })),
  }),
  responses: { 200: s.success() },
  throws: [Invalid, NotFound, Conflict],
  async handle({ params, query, caller }, { roleAdministration }) {
    await roleAdministration.remove(params.id, query.successor, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})
