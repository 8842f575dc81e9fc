import { Forbidden, routesFor, s, TooMany } from 'pounce/sdk'
import { IdentityLinks } from './identity-links.ts'

const route = routesFor('users', { links: IdentityLinks })
const token = s.String({ minLength: 1, maxLength: 200, description: 'Token of the emailed link' })

export const getIdentityLink = route({
  method: 'GET',
  path: '/api/login/link',
  summary: 'Get a pending link between a provider and an account',
  description: 'Does not use up the link.',
  permission: 'anyone',
  ignoresCredentials: true,
  query: s.Object({ token }),
  responses: {
    200: s.model(
      'IdentityLink',
      s.Object({ email: s.String(), provider: s.String(), expires: s.String({ description: 'ISO 8601, UTC' }) }),
    ),
  },
  throws: [Forbidden, TooMany],
  async handle({ query, address }, { links }) {
    const { link, user } = await links.open(query.token, address)
    return {
      status: 200,
      body: { email: user.email, provider: link.provider, expires: link.expires },
      headers: { 'cache-control': 'no-store' },
    }
  },
})

export const confirmIdentityLink = route({
  method: 'POST',
  path: '/api/login/link',
  summary: "Link a provider's identity to an account",
  description:
    'With the token of the email that went to the owner of the account when somebody signed in elsewhere with its email address (`resources.users.linksByEmail`). Works once; from then on that identity can sign in to the account. Never for server admins.',
  permission: 'anyone',
  ignoresCredentials: true,
  body: s.Object({ token }),
  responses: { 200: s.success() },
  throws: [Forbidden, TooMany],
  async handle({ body, address }, { links }) {
    await links.confirm(body.token, address)
    return { status: 200, body: { status: 'success' } }
  },
})
