import type { FixedClock, TestFetch, TestServer } from 'pounce/sdk/testing'
import { codeAt } from './authenticator.ts'
import { byCookie, newPerson, type Person, signIn } from './people.ts'

/** A user with an authenticator app. */
export interface Protected extends Person {
  readonly secret: string
  readonly recoveryCodes: readonly string[]
  /** The session that enrolled it. */
  readonly cookie: string
  readonly session: TestFetch
}

export const json = async <T>(answer: Response | Promise<Response>, status = 200): Promise<T> => {
  const got = await answer
  const text = await got.text()
  if (got.status !== status) throw new Error(`${got.status} instead of ${status}: ${text}`)
  return JSON.parse(text) as T
}

export const post = (call: TestFetch, path: string, body: object = {}) => call(path, { method: 'POST', json: body })

/** Enrols an authenticator app in a session. */
export const enrolTotp = async (call: TestFetch, password: string | undefined, clock: FixedClock) => {
  const begun = await json<{ enrolment: string; secret: string; uri: string }>(post(call, '/api/second-factors/totp', { password }))
  const code = codeAt(begun.secret, clock.now())
  const { recoveryCodes = [] } = await json<{ recoveryCodes?: string[] }>(
    post(call, '/api/second-factors/totp/confirm', { enrolment: begun.enrolment, code }),
  )
  return { ...begun, recoveryCodes }
}

/** Enrols one and advances the clock beyond its first code, so that the next code differs. */
export const withTotp = async (server: TestServer, clock: FixedClock, name: string): Promise<Protected> => {
  const person = await newPerson(server, name)
  const cookie = await signIn(server, person.email, person.password)
  const session = byCookie(server, cookie)
  const { secret, recoveryCodes } = await enrolTotp(session, person.password, clock)
  clock.advance(60_000)
  return { ...person, secret, recoveryCodes, cookie, session }
}

export interface Refused {
  readonly code: string
  readonly challenge: string
  readonly methods: readonly string[]
  readonly publicKey?: { readonly challenge: string; readonly rpId: string; readonly allowCredentials?: readonly { id: string }[] }
}

/** The challenge that signing in with a password returns. */
export const challengeOf = async (
  server: TestServer,
  { email, password }: Person,
  headers: Record<string, string> = {},
): Promise<Refused> => json<Refused>(server.as()('/api/login', { method: 'POST', json: { email, password }, headers }), 401)

/** The second step. */
export const finish = (server: TestServer, challenge: string, proof: object, headers: Record<string, string> = {}) =>
  server.as()('/api/login/second-factor', { method: 'POST', json: { challenge, ...proof }, headers })

export const cookieOf = (answer: Response): string => answer.headers.get('set-cookie')?.split(';')[0] ?? ''
