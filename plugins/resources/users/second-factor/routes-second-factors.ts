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
import { OwnJson, UserViews } from '../accounts/user-json.ts'
import { AccountSignIn } from '../sign-in/sign-in.ts'
import { StoredSessions } from '../sign-in/stored-sessions.ts'
import { FactorEnrolment, type FactorOwner } from './enrolment.ts'
import { FactorPolicy } from './factor-policy.ts'
import { FactorSignIn } from './factor-sign-in.ts'
import { StepUps } from './step-up.ts'

const base64url = (maxLength: number) => s.String({ maxLength, pattern: '^[A-Za-z0-9_-]*$' })

const credential = { id: base64url(2000), rawId: base64url(2000), type: s.Literal('public-key') }

/** The result of `navigator.credentials.create`, by its `toJSON()`. */
const RegistrationJson = s.model(
  'PasskeyRegistration',
  s.Object({
    ...credential,
    response: s.Object({
      clientDataJSON: base64url(8000),
      attestationObject: base64url(24_000),
      transports: s.Optional(s.Array(s.String({ maxLength: 30 }), { maxItems: 10 })),
    }),
  }),
)

/** The result of `navigator.credentials.get`, by its `toJSON()`. */
export const AssertionJson = s.model(
  'PasskeyAssertion',
  s.Object({
    ...credential,
    response: s.Object({
      clientDataJSON: base64url(8000),
      authenticatorData: base64url(8000),
      signature: base64url(4000),
      userHandle: s.Optional(base64url(200)),
    }),
  }),
)

/** The three kinds of proof of a second factor. */
export const proofMembers = {
  code: s.Optional(s.String({ maxLength: 20, description: 'Six digits of the authenticator app' })),
  recoveryCode: s.Optional(s.String({ maxLength: 60 })),
  passkey: s.Optional(AssertionJson),
}

export const token = (description: string) => s.String({ maxLength: 4000, description })

/** Options of WebAuthn Level 3, in the format of `PublicKeyCredential.parse…OptionsFromJSON`. */
export const PublicKeyOptions = s.Record(s.String(), s.Unknown(), {
  description: 'For `navigator.credentials`: options in their JSON form',
})

const recoveryCodes = s.Array(s.String(), {
  description: 'Shown once: each can be used once in place of the second factor',
})

export const maxBodyBytes = 64 * 1024

const route = routesFor('second-factors', { users: Users, enrolment: FactorEnrolment, sessions: StoredSessions, rules: FactorPolicy })

const admin = routesFor('users', { enrolment: FactorEnrolment })

/**
 * Common to all routes here: they concern the account itself, so limited keys are refused, and they are accessible before an enrolment that
 * a setting requires.
 */
const own = { limitedKeys: 'refused', beforeEnrolment: true, stepUp: false } as const

const throws = [Invalid, NotSignedIn, Forbidden, StepUpRequired, Conflict, TooMany]

const noStore = { 'cache-control': 'no-store' } as const

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
  async handle({ caller }, { users, rules }) {
    const user = await users.get(signedIn(caller).id)
    if (!user) throw new NotFound('user')
    const { totp, passkeys, recoveryCodes: left } = user.secondFactor ?? { totp: null, passkeys: [], recoveryCodes: [] }
    const body = {
      isRequired: rules.isRequiredOf(user),
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

const usersRoute = routesFor('users', { people: UserViews, sessions: StoredSessions, signIn: AccountSignIn, secondStep: FactorSignIn })

const ofSessions = routesFor('sessions', { sessions: StoredSessions, reauthentication: StepUps })

export const finishLogin = usersRoute({
  method: 'POST',
  path: '/api/login/second-factor',
  summary: 'Complete sign-in with a second factor',
  description:
    'An addition to Clowder 1.x. `POST /api/login` answers 401 with the code `second-factor-required` and a `challenge` for an account that has a second factor; the challenge is valid for five minutes, once. Send it with one of `code`, `recoveryCode` and `passkey` (signed for the `publicKey` of that response). Failures count like wrong passwords.',
  permission: 'anyone',
  ignoresCredentials: true,
  maxBodyBytes,
  body: s.model('SecondFactorLogin', s.Object({ challenge: token('From the refusal'), ...proofMembers })),
  responses: { 200: OwnJson },
  throws: [Invalid, NotSignedIn, TooMany],
  async handle({ body: { challenge, ...proof }, headers, address }, { people, sessions, signIn, secondStep }) {
    const { user, methods } = await secondStep.finish(challenge, proof, address)
    const [cookie, seen] = await Promise.all([sessions.begin(user, { headers, address }, methods), signIn.note(user, address)])
    return { status: 200, body: await people.ownOf(seen), headers: { 'set-cookie': cookie, ...noStore } }
  },
})

export const beginPasskeyLogin = usersRoute({
  method: 'POST',
  path: '/api/login/passkey/options',
  summary: 'Start signing in with a passkey',
  description: 'An addition to Clowder 1.x. Valid for five minutes, once.',
  permission: 'anyone',
  ignoresCredentials: true,
  responses: { 200: s.Object({ challenge: token('To send with the passkey'), publicKey: PublicKeyOptions }) },
  async handle(_request, { secondStep }) {
    const { challenge, publicKey } = await secondStep.passkeyOptions()
    return { status: 200, body: { challenge, publicKey: { ...publicKey } }, headers: noStore }
  },
})

export const loginWithPasskey = usersRoute({
  method: 'POST',
  path: '/api/login/passkey',
  summary: 'Sign in with a passkey',
  description:
    'An addition to Clowder 1.x, for discoverable passkeys with user verification: no password is needed. Failures count like wrong passwords.',
  permission: 'anyone',
  ignoresCredentials: true,
  maxBodyBytes,
  body: s.Object({ challenge: token('From the options'), passkey: AssertionJson }),
  responses: { 200: OwnJson },
  throws: [NotSignedIn, TooMany],
  async handle({ body, headers, address }, { people, sessions, signIn, secondStep }) {
    const { user, methods } = await secondStep.withPasskey(body.challenge, body.passkey, address)
    const [cookie, seen] = await Promise.all([sessions.begin(user, { headers, address }, methods), signIn.note(user, address)])
    return { status: 200, body: await people.ownOf(seen), headers: { 'set-cookie': cookie, ...noStore } }
  },
})

export const stepUp = ofSessions({
  method: 'POST',
  path: '/api/sessions/step-up',
  summary: 'Reauthenticate in this session',
  description:
    'An addition to Clowder 1.x, for requests refused with `step-up-required`. Send one of `code`, `recoveryCode` and `passkey`; `password` if the account has no second factor. Only for sessions. Failures count as at sign-in.',
  permission: 'signedIn',
  limitedKeys: 'refused',
  beforeEnrolment: true,
  stepUp: false,
  maxBodyBytes,
  body: s.model(
    'StepUp',
    s.Object({
      password: s.Optional(s.String({ maxLength: 4000 })),
      challenge: s.Optional(token('Of a passkey: from `POST /api/sessions/step-up/passkey`')),
      ...proofMembers,
    }),
  ),
  responses: { 200: s.Object({ status: s.Literal('success'), authenticated: s.String({ description: 'ISO 8601' }) }) },
  throws: [Invalid, NotSignedIn, Forbidden, TooMany],
  async handle({ body, caller, headers, address }, { sessions, reauthentication }) {
    const session = caller.via === 'session' ? await sessions.current(headers.cookie) : undefined
    const authenticated = await reauthentication.stepUp(signedIn(caller).id, session, body, address)
    return { status: 200, body: { status: 'success' as const, authenticated } }
  },
})

export const beginPasskeyStepUp = ofSessions({
  method: 'POST',
  path: '/api/sessions/step-up/passkey',
  summary: 'Start reauthenticating with a passkey',
  permission: 'signedIn',
  limitedKeys: 'refused',
  beforeEnrolment: true,
  stepUp: false,
  responses: { 200: s.Object({ challenge: token('To send with the passkey'), publicKey: PublicKeyOptions }) },
  throws: [Invalid],
  async handle({ caller }, { reauthentication }) {
    const { challenge, publicKey } = await reauthentication.passkeyOptions(signedIn(caller).id)
    return { status: 200, body: { challenge, publicKey: { ...publicKey } }, headers: noStore }
  },
})
