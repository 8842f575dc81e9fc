import { Conflict, ReadAccess, routesFor, s } from 'pounce/sdk'
import { ReadAccessOrigin } from 'pounce/sdk/kit'

const route = routesFor('admin', { access: ReadAccess })

const Shown = s.model(
  'ReadAccess',
  s.Object({
    private: s.Boolean({ description: 'Reading requires sign-in' }),
    origin: ReadAccessOrigin,
  }),
  { private: true, origin: 'admin' },
)

export const setReadAccess = route({
  method: 'PUT',
  path: '/api/admin/access',
  summary: 'Set whether reading requires sign-in',
  description:
    'An addition to Clowder 1.x. Takes effect at once, on other processes of the installation within a second. A configured `access.private` overrides it: 409.',
  permission: 'serverAdmin',
  body: s.model('ReadAccessChange', s.Object({ private: s.Boolean() }), { private: true }),
  responses: { 200: Shown },
  throws: [Conflict],
  async handle({ body }, { access }) {
    await access.choose(body.private)
    return { status: 200, body: { private: access.isPrivate, origin: access.origin } }
  },
})
