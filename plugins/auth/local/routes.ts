import { Forbidden, Invalid, routesFor, s, TooMany, Unavailable } from 'pounce/sdk'
import { checkedEmail, isMailAddress } from 'pounce/sdk/kit'
import { LinkedAccounts } from './linked-accounts.ts'
import { MailLinks } from './mail-links.ts'

const route = routesFor('users', { links: MailLinks, linked: LinkedAccounts })

const quiet = { 'cache-control': 'no-store' }
const emailBody = s.Object({ email: s.String({ minLength: 3, maxLength: 254 }) })
const token = s.String({ minLength: 1, maxLength: 200, description: 'Token of the emailed link' })
const password = s.String({ maxLength: 4000, description: '8 to 1,000 characters' })
const Opened = s.Object({ email: s.String(), expires: s.String({ description: 'ISO 8601, UTC' }) })

/** An email address, normalized as in accounts. */
const mailAddress = (text: string): string => {
  const email = checkedEmail(text)
  if (!isMailAddress(email)) throw new Invalid('email must be an email address such as ada@example.org')
  return email
}

export const signUp = route({
  method: 'POST',
  path: '/api/signup',
  summary: 'Request a sign-up link by email',
  description:
    'The response does not reveal whether the address has an account; the email does. An addition to Clowder 1.x, which has this on web pages only.',
  permission: 'anyone',
  ignoresCredentials: true,
  body: emailBody,
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
  summary: 'Show the sign-up form of an emailed link',
  description: 'Does not use up the link.',
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
  summary: 'Complete sign-up with an emailed link',
  description:
    'Works once. If new accounts need approval (`registerThroughAdmins`), the account is inactive until an admin approves it, and the admins are notified. Sign in afterwards.',
  permission: 'anyone',
  ignoresCredentials: true,
  body: s.model(
    'SignUp',
    s.Object({
      token,
      firstName: s.line(200),
      lastName: s.line(200),
      password,
      acceptTerms: s.Optional(s.Boolean({ description: 'Accept the terms of service (`GET /api/configuration`) as well' })),
    }),
  ),
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
  summary: 'Request a password reset link by email',
  description: 'The response does not reveal whether the address has an account.',
  permission: 'anyone',
  ignoresCredentials: true,
  body: emailBody,
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
  summary: 'Show the password reset form of an emailed link',
  description: 'Does not use up the link.',
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
  summary: 'Reset the password with an emailed link',
  description:
    'Works once. Ends all sessions of the account and invalidates its other reset links; API keys stay valid unless `revokeKeys` is true. The owner is notified by email.',
  permission: 'anyone',
  ignoresCredentials: true,
  body: s.model(
    'PasswordReset',
    s.Object({ token, password, revokeKeys: s.Optional(s.Boolean({ description: 'Also revoke all API keys of the account' })) }),
  ),
  responses: { 200: s.success() },
  throws: [Invalid, Forbidden, TooMany, Unavailable],
  async handle({ body, address }, { linked }) {
    await linked.reset(body.token, body.password, body.revokeKeys ?? false, address)
    return { status: 200, body: { status: 'success' } }
  },
})
