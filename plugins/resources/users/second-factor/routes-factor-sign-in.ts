import { Forbidden, Invalid, NotSignedIn, routesFor, s, signedIn, TooMany } from 'pounce/sdk'
import { OwnJson, UserViews } from '../accounts/user-json.ts'
import { AccountSignIn } from '../sign-in/sign-in.ts'
import { StoredSessions } from '../sign-in/stored-sessions.ts'
import { AssertionJson, maxBodyBytes, noStore, PublicKeyOptions, proofMembers, token } from './factor-json.ts'
import { FactorSignIn } from './factor-sign-in.ts'
import { StepUps } from './step-up.ts'

const usersRoute = routesFor('users', { userViews: UserViews, sessions: StoredSessions, signIn: AccountSignIn, factorSignIn: FactorSignIn })

const ofSessions = routesFor('sessions', { sessions: StoredSessions, stepUps: StepUps })

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
  async handle({ body: { challenge, ...proof }, headers, address }, { userViews, sessions, signIn, factorSignIn }) {
    const { user, methods } = await factorSignIn.finish(challenge, proof, address)
    const [cookie, seen] = await Promise.all([sessions.begin(user, { headers, address }, methods), signIn.note(user, address)])
    return { status: 200, body: await userViews.ownOf(seen), headers: { 'set-cookie': cookie, ...noStore } }
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
  async handle(_request, { factorSignIn }) {
    const { challenge, publicKey } = await factorSignIn.passkeyOptions()
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
  async handle({ body, headers, address }, { userViews, sessions, signIn, factorSignIn }) {
    const { user, methods } = await factorSignIn.withPasskey(body.challenge, body.passkey, address)
    const [cookie, seen] = await Promise.all([sessions.begin(user, { headers, address }, methods), signIn.note(user, address)])
    return { status: 200, body: await userViews.ownOf(seen), headers: { 'set-cookie': cookie, ...noStore } }
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
  async handle({ body, caller, headers, address }, { sessions, stepUps }) {
    const session = caller.via === 'session' ? await sessions.current(headers.cookie) : undefined
    const authenticated = await stepUps.stepUp(signedIn(caller).id, session, body, address)
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
  async handle({ caller }, { stepUps }) {
    const { challenge, publicKey } = await stepUps.passkeyOptions(signedIn(caller).id)
    return { status: 200, body: { challenge, publicKey: { ...publicKey } }, headers: noStore }
  },
})
