import { checkedEmail, Forbidden, Invalid, isMailAddress, routesFor, s, TooMany, Unavailable } from 'pounce/sdk'
import { Linked } from './linked-accounts.ts'
import { Links } from './mail-links.ts'

const route = routesFor('users', { links: Links, linked: Linked })

const quiet = { 'cache-control': 'no-store' }
const wish = s.Object({ email: s.String({ minLength: 3, maxLength: 254 }) })
const token = s.String({ minLength: 1, maxLength: 200, description: 'From the link in the mail' })
const password = s.String({ maxLength: 4000, description: '8 to 1,000 characters' })
const Opened = s.Object({ email: s.String(), expires: s.String({ description: 'ISO 8601, UTC' }) })

/** Text that mail can be sent to, in the form in which accounts have it. */
const mailAddress = (text: string): string => {
  const email = checkedEmail(text)
  if (!isMailAddress(email)) throw new Invalid('email must be an address such as ada@example.org')
  return email
}

export const signUp = route({
  method: 'POST',
  path: '/api/signup',
  summary: 'Ask for a link by mail with which to make an account',
  description:
    'The answer is the same whether there is an account for the address or not; then the mail says so. An addition to Clowder 1.x, which has this on its web pages only.',
  permission: 'anyone',
  ignoresCredentials: true,
  body: wish,
  responses: { 200: s.success() },
  throws: [Invalid, Forbidden, TooMany],
  async handle({ body, address }, { links, linked }) {
    linked.requireSignUp()
    await links.request('signUp', mailAddress(body.email), address)
    return { status: 200, body: { status: 'success' } }
  },
})

export const getSignUp = route({
  method: 'GET',
  path: '/api/signup/finish',
  summary: 'What a link to sign up is for',
  description: 'Looking at it does not use it up.',
  permission: 'anyone',
  ignoresCredentials: true,
  query: s.Object({ token }),
  responses: { 200: Opened },
  throws: [Forbidden, TooMany],
  async handle({ query, address }, { links, linked }) {
    linked.requireSignUp()
    const { email, expires } = await links.open('signUp', query.token, address)
    return { status: 200, body: { email, expires }, headers: quiet }
  },
})

export const finishSignUp = route({
  method: 'POST',
  path: '/api/signup/finish',
  summary: 'Make an account with a link that came by mail',
  description:
    'Works once. Where admins approve accounts (`registerThroughAdmins`), the new one is not active until then, and they are told. Signing in comes after.',
  permission: 'anyone',
  ignoresCredentials: true,
  body: s.Object({
    token,
    firstName: s.line(200),
    lastName: s.line(200),
    password,
    acceptTerms: s.Optional(s.Boolean({ description: 'Accepts the terms of service (`GET /api/configuration`) at once' })),
  }),
  responses: { 200: s.Object({ id: s.id(), isActive: s.Boolean() }) },
  throws: [Invalid, Forbidden, TooMany, Unavailable],
  async handle({ body, address }, { linked }) {
    const { token: given, ...account } = body
    const { id, status } = await linked.signUp(given, account, address)
    return { status: 200, body: { id, isActive: status !== 'Inactive' } }
  },
})

export const askForReset = route({
  method: 'POST',
  path: '/api/password/reset',
  summary: 'Ask for a link by mail with which to set another password',
  description: 'The answer is the same whether there is an account for the address or not.',
  permission: 'anyone',
  ignoresCredentials: true,
  body: wish,
  responses: { 200: s.success() },
  throws: [Invalid, TooMany],
  async handle({ body, address }, { links }) {
    await links.request('reset', mailAddress(body.email), address)
    return { status: 200, body: { status: 'success' } }
  },
})

export const getReset = route({
  method: 'GET',
  path: '/api/password/reset/finish',
  summary: 'Whose password a link sets',
  description: 'Looking at it does not use it up.',
  permission: 'anyone',
  ignoresCredentials: true,
  query: s.Object({ token }),
  responses: { 200: Opened },
  throws: [Forbidden, TooMany],
  async handle({ query, address }, { linked }) {
    const { link } = await linked.openReset(query.token, address)
    return { status: 200, body: { email: link.email, expires: link.expires }, headers: quiet }
  },
})

export const finishReset = route({
  method: 'POST',
  path: '/api/password/reset/finish',
  summary: 'Set another password with a link that came by mail',
  description:
    'Works once. Ends all sessions of the account and every other such link; keys stay unless `revokeKeys` is true. A mail tells the owner.',
  permission: 'anyone',
  ignoresCredentials: true,
  body: s.Object({ token, password, revokeKeys: s.Optional(s.Boolean({ description: 'All API keys of the account end as well' })) }),
  responses: { 200: s.success() },
  throws: [Invalid, Forbidden, TooMany, Unavailable],
  async handle({ body, address }, { linked }) {
    await linked.reset(body.token, body.password, body.revokeKeys ?? false, address)
    return { status: 200, body: { status: 'success' } }
  },
})
