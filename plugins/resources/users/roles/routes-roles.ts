import { Conflict, Invalid, NotFound, type RoleRecord, routesFor, type Stored, s, signedIn, Users } from 'pounce/sdk'
import { RoleOffices } from './role-office.ts'

const route = routesFor('roles', { users: Users, office: RoleOffices })
const params = s.Object({ id: s.id() })
const RoleJson = s.Object({ id: s.id(), name: s.String(), description: s.String(), permissions: s.Array(s.String()) })
const permissions = () => s.Array(s.String({ maxLength: 100 }), { maxItems: 200, description: 'None give no rights at all' })

const shown = ({ id, name, description, permissions }: RoleRecord & Stored) => ({ id, name, description, permissions: [...permissions] })

export const listRoles = route({
  method: 'GET',
  path: '/api/roles',
  summary: 'The roles that people can hold in spaces',
  permission: 'signedIn',
  responses: { 200: s.Array(RoleJson) },
  async handle(_request, { users }) {
    return { status: 200, body: (await users.roles()).map(shown) }
  },
})

export const getRole = route({
  method: 'GET',
  path: '/api/roles/:id',
  summary: 'One role',
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
  summary: 'Make a role',
  description: 'In Clowder 1.x roles are made on a web page only.',
  permission: 'serverAdmin',
  body: s.Object({ name: s.line(100), description: s.Optional(s.prose(2000)), permissions: permissions() }),
  responses: { 200: s.Object({ id: s.id() }) },
  throws: [Invalid, Conflict],
  async handle({ body: { name, description = '', permissions }, caller }, { office }) {
    return { status: 200, body: { id: await office.create({ name, description, permissions }, signedIn(caller).id) } }
  },
})

export const updateRole = route({
  method: 'PUT',
  path: '/api/roles/:id',
  summary: 'Change a role',
  description:
    'What is absent stays; `permissions` replaces all of them, and counts for everybody who holds the role within a second. Viewer, Editor and Admin keep their names, Admin keeps ViewSpace and EditSpace.',
  permission: 'serverAdmin',
  params,
  body: s.Object({ name: s.Optional(s.line(100)), description: s.Optional(s.prose(2000)), permissions: s.Optional(permissions()) }),
  responses: { 200: s.success() },
  throws: [Invalid, NotFound, Conflict],
  async handle({ params, body, caller }, { office }) {
    await office.change(params.id, body, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const deleteRole = route({
  method: 'DELETE',
  path: '/api/roles/:id',
  summary: 'Delete a role',
  description: 'Whoever holds it holds the successor from then on. Viewer, Editor and Admin stay.',
  permission: 'serverAdmin',
  params,
  query: s.Object({
    successor: s.Optional(s.String({ maxLength: 100, description: "The other role's id; needed when anybody holds the role" })),
  }),
  responses: { 200: s.success() },
  throws: [Invalid, NotFound, Conflict],
  async handle({ params, query, caller }, { office }) {
    await office.remove(params.id, query.successor, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})
