import {
  Conflict,
  Forbidden,
  Invalid,
  NotFound,
  NotSignedIn,
  type Request,
  routesFor,
  StepUpRequired,
  s,
  signedIn,
  TooMany,
  Users,
} from 'pounce/sdk'
import { StoredSessions } from '../sign-in/stored-sessions.ts'
import { FactorEnrolment, type FactorOwner } from './enrolment.ts'
import { maxBodyBytes, noStore, PublicKeyOptions, RegistrationJson, token } from './factor-json.ts'
import { FactorPolicy } from './factor-policy.ts'

const recoveryCodes = s.Array(s.String(), {
  description: 'Shown once: each can be used once in place of the second factor',
})

const route = routesFor('second-factors', {
  users: Users,
  enrolment: FactorEnrolment,
  sessions: StoredSessions,
  factorPolicy: FactorPolicy,
})

const admin = routesFor('users', { enrolment: FactorEnrolment })

/**
 * Common to all routes here: they concern the account itself, so limited keys are refused, and they are accessible before an enrolment that
 * a setting requires.
 */
const own = { limitedKeys: 'refused', beforeEnrolment: true, stepUp: false } as const

const throws = [Invalid, NotSignedIn, Forbidden, StepUpRequired, Conflict, TooMany]

const passwordMember = {
  password: s.Optional(
    s.String({
      maxLength: 4000,
      description: 'Current password: required for the first factor of an account, unless it is in the header (Basic authentication)',
    }),
  ),
}

const fresh =
  'If a factor is enrolled already, requires a session that has used one in the last 15 minutes; see `POST /api/sessions/step-up`.'

const passkeyParams = s.Object({ passkey: s.id() })

const success = { status: 200, body: { status: 'success' } } as const

const ownerOf = async (
  { caller, headers, address }: Pick<Request<undefined, undefined, undefined>, 'caller' | 'headers' | 'address'>,
  sessions: { current(cookies: string | undefined): Promise<FactorOwner['session']> },
  password?: string,
): Promise<FactorOwner> => ({
  caller,
  address,
  password,
  session: caller.via === 'session' ? await sessions.current(headers.cookie) : undefined,
})

const time = s.Union([s.String(), s.Null()])

const SecondFactorsJson = s.model(
  'SecondFactors',
  s.Object({
    isRequired: s.Boolean({ description: 'Whether the server settings require a second factor of this account' }),
    totp: s.Union([s.Object({ created: s.String(), lastUsed: time }), s.Null()]),
    passkeys: s.Array(
      s.Object({
        id: s.id(),
        name: s.String(),
        created: s.String(),
        lastUsed: time,
        isBackedUp: s.Boolean({ description: 'Synced between devices' }),
      }),
    ),
    recoveryCodesLeft: s.Integer(),
  }),
)

export const getSecondFactors = route({
  ...own,
  method: 'GET',
  path: '/api/second-factors',
  summary: 'List my second factors',
  description: 'An addition to Clowder 1.x.',
  permission: 'signedIn',
  responses: { 200: SecondFactorsJson },
  throws: [NotSignedIn],
  async handle({ caller }, { users, factorPolicy }) {
    const user = await users.get(signedIn(caller).id)
    if (!user) throw new NotFound('user')
    const { totp, passkeys, recoveryCodes: left } = user.secondFactor ?? { totp: null, passkeys: [], recoveryCodes: [] }
    const body = {
      isRequired: factorPolicy.isRequiredOf(user),
      totp: totp && { created: totp.created, lastUsed: totp.lastUsed },
      passkeys: passkeys.map(({ id, name, created, lastUsed, isBackedUp }) => ({ id, name, created, lastUsed, isBackedUp })),
      recoveryCodesLeft: left.length,
    }
    return { status: 200, body, headers: noStore }
  },
})

export const beginTotp = route({
  ...own,
  method: 'POST',
  path: '/api/second-factors/totp',
  summary: 'Start enrolling an authenticator app',
  description: `The secret is shown once, and takes effect when \`POST /api/second-factors/totp/confirm\` gets one of its codes within ten minutes. ${fresh}`,
  permission: 'signedIn',
  body: s.Object(passwordMember),
  responses: {
    200: s.model(
      'TotpEnrolment',
      s.Object({
        enrolment: token('To send with the first code'),
        secret: s.String({ description: 'Base32, to type into the app' }),
        uri: s.String({ description: '`otpauth://`, to show as a QR code' }),
      }),
    ),
  },
  throws,
  async handle(request, { enrolment, sessions }) {
    const owner = await ownerOf(request, sessions, request.body.password)
    return { status: 200, body: await enrolment.beginTotp(owner), headers: noStore }
  },
})

export const confirmTotp = route({
  ...own,
  method: 'POST',
  path: '/api/second-factors/totp/confirm',
  summary: 'Confirm an authenticator app by its first code',
  description: 'The first factor also returns recovery codes, and ends all other sessions of the account.',
  permission: 'signedIn',
  body: s.Object({ enrolment: token('From the beginning of the enrolment'), code: s.String({ maxLength: 20 }) }),
  responses: { 200: s.Object({ recoveryCodes: s.Optional(recoveryCodes) }) },
  throws,
  async handle(request, { enrolment, sessions }) {
    const owner = await ownerOf(request, sessions)
    const codes = await enrolment.confirmTotp(owner, request.body.enrolment, request.body.code)
    return { status: 200, body: codes ? { recoveryCodes: [...codes] } : {}, headers: noStore }
  },
})

export const removeTotp = route({
  ...own,
  method: 'DELETE',
  path: '/api/second-factors/totp',
  summary: 'Remove my authenticator app',
  description: `${fresh} Recovery codes are deleted with the last factor.`,
  permission: 'signedIn',
  responses: { 200: s.success() },
  throws,
  async handle(request, { enrolment, sessions }) {
    await enrolment.removeTotp(await ownerOf(request, sessions))
    return success
  },
})

export const replaceRecoveryCodes = route({
  ...own,
  method: 'POST',
  path: '/api/second-factors/recovery-codes',
  summary: 'Create new recovery codes',
  description: `The old codes become invalid. ${fresh}`,
  permission: 'signedIn',
  responses: { 200: s.Object({ recoveryCodes }) },
  throws,
  async handle(request, { enrolment, sessions }) {
    const codes = await enrolment.replaceRecoveryCodes(await ownerOf(request, sessions))
    return { status: 200, body: { recoveryCodes: [...codes] }, headers: noStore }
  },
})

export const beginPasskey = route({
  ...own,
  method: 'POST',
  path: '/api/second-factors/passkeys/options',
  summary: 'Start adding a passkey',
  description: `Valid for ten minutes. The RP ID is the host name of the server's base URL (\`http.baseUrl\`). ${fresh}`,
  permission: 'signedIn',
  body: s.Object(passwordMember),
  responses: { 200: s.Object({ enrolment: token('To send with the passkey'), publicKey: PublicKeyOptions }) },
  throws,
  async handle(request, { enrolment, sessions }) {
    const { enrolment: begun, publicKey } = await enrolment.beginPasskey(await ownerOf(request, sessions, request.body.password))
    return { status: 200, body: { enrolment: begun, publicKey: { ...publicKey } }, headers: noStore }
  },
})

export const addPasskey = route({
  ...own,
  method: 'POST',
  path: '/api/second-factors/passkeys',
  summary: 'Add a passkey',
  description: 'The first factor also returns recovery codes, and ends all other sessions of the account.',
  permission: 'signedIn',
  maxBodyBytes,
  body: s.model(
    'NewPasskey',
    s.Object({ enrolment: token('From the beginning of the enrolment'), name: s.line(100), passkey: RegistrationJson }),
  ),
  responses: { 200: s.Object({ id: s.id(), recoveryCodes: s.Optional(recoveryCodes) }) },
  throws,
  async handle(request, { enrolment, sessions }) {
    const { enrolment: begun, passkey, name } = request.body
    const { id, codes } = await enrolment.addPasskey(await ownerOf(request, sessions), begun, passkey, name)
    return { status: 200, body: { id, ...(codes ? { recoveryCodes: [...codes] } : {}) }, headers: noStore }
  },
})

export const renamePasskey = route({
  ...own,
  method: 'PUT',
  path: '/api/second-factors/passkeys/:passkey',
  summary: 'Rename a passkey',
  description: fresh,
  permission: 'signedIn',
  params: passkeyParams,
  body: s.Object({ name: s.line(100) }),
  responses: { 200: s.success() },
  throws: [...throws, NotFound],
  async handle(request, { enrolment, sessions }) {
    await enrolment.renamePasskey(await ownerOf(request, sessions), request.params.passkey, request.body.name)
    return success
  },
})

export const removePasskey = route({
  ...own,
  method: 'DELETE',
  path: '/api/second-factors/passkeys/:passkey',
  summary: 'Remove a passkey',
  description: `${fresh} Recovery codes are deleted with the last factor.`,
  permission: 'signedIn',
  params: passkeyParams,
  responses: { 200: s.success() },
  throws: [...throws, NotFound],
  async handle(request, { enrolment, sessions }) {
    await enrolment.removePasskey(await ownerOf(request, sessions), request.params.passkey)
    return success
  },
})

export const resetSecondFactors = admin({
  method: 'DELETE',
  path: '/api/users/:id/second-factors',
  summary: 'Remove all second factors from an account',
  description:
    'An addition to Clowder 1.x, for users who have lost them. Sessions end, the password is kept, and the owner is notified by email.',
  permission: 'serverAdmin',
  params: s.Object({ id: s.id() }),
  responses: { 204: s.empty() },
  throws: [NotFound],
  async handle({ params, caller }, { enrolment }) {
    await enrolment.reset(params.id, signedIn(caller).id)
    return { status: 204, body: undefined }
  },
})
