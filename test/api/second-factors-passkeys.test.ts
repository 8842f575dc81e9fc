import test from 'ava'
import { Users } from 'pounce/sdk'
import { bootForTest, type TestFetch } from 'pounce/sdk/testing'
import { Authenticator, type Options, type Wrong } from '../support/authenticator.ts'
import { byCookie, newPerson, type Person, refusal, signIn } from '../support/people.ts'
import { challengeOf, cookieOf, finish, json, post } from '../support/second-factors.ts'

const plugins = ['documents.sqlite', 'access.policy', 'auth.local', 'resources.users']
const baseUrl = 'https://data.example.org/pounce'
const origin = 'https://data.example.org'
const server = await bootForTest({ plugins, config: { http: { baseUrl }, resources: { users: { failuresPerAddress: 100_000 } } } })
test.after.always(() => server.stop())

interface Begun {
  readonly enrolment: string
  readonly publicKey: Options & { readonly excludeCredentials?: readonly { readonly id: string }[] }
}
const statusOf = async (answer: Promise<Response>): Promise<number> => (await answer).status
/** A browser. The public address of the server differs from the one used by the test. */
const browser = (cookie: string): TestFetch => byCookie(server, cookie)

const begin = (call: TestFetch, password?: string) => json<Begun>(post(call, '/api/second-factors/passkeys/options', { password }))
const add = (call: TestFetch, enrolment: string, passkey: object, name = 'laptop') =>
  post(call, '/api/second-factors/passkeys', { enrolment, passkey, name })

const withPasskey = async (name: string) => {
  const person = await newPerson(server, name)
  const session = browser(await signIn(server, person.email, person.password))
  const key = new Authenticator(origin)
  const { enrolment, publicKey } = await begin(session, person.password)
  const { id, recoveryCodes } = await json<{ id: string; recoveryCodes: string[] }>(add(session, enrolment, key.create(publicKey)))
  return { person, session, key, id, recoveryCodes }
}

/** The second step with a passkey. */
const finishWith = async (person: Person, key: Authenticator, wrong: Wrong = {}) => {
  const { challenge, publicKey } = await challengeOf(server, person)
  return finish(server, challenge, { passkey: key.get(publicKey as Options, wrong) })
}

/** Signing in without a password. */
const alone = async (key: Authenticator, wrong: Wrong = {}) => {
  const { challenge, publicKey } = await json<{ challenge: string; publicKey: Options }>(post(server.as(), '/api/login/passkey/options'))
  return post(server.as(), '/api/login/passkey', { challenge, passkey: key.get(publicKey, wrong) })
}

test('a passkey is created for the host and origin of the configured address, and is a second factor', async t => {
  const person = await newPerson(server, 'ann')
  const session = browser(await signIn(server, person.email, person.password))
  t.is(await statusOf(post(session, '/api/second-factors/passkeys/options')), 400)
  t.is(await statusOf(post(session, '/api/second-factors/passkeys/options', { password: 'not this one' })), 401)
  const { enrolment, publicKey } = await begin(session, person.password)
  t.like(publicKey, { rp: { id: 'data.example.org' }, attestation: 'none', authenticatorSelection: { userVerification: 'required' } })
  const key = new Authenticator(origin)
  const { id, recoveryCodes } = await json<{ id: string; recoveryCodes: string[] }>(add(session, enrolment, key.create(publicKey)))
  t.is(recoveryCodes.length, 10)
  t.like(await json(session('/api/second-factors')), { totp: null, passkeys: [{ id, name: 'laptop', lastUsed: null }] })
  const refused = await challengeOf(server, person)
  t.deepEqual(refused.methods, ['passkey', 'recovery-code'])
  t.deepEqual(
    refused.publicKey?.allowCredentials?.map(each => each.id),
    [key.id],
  )
  const done = await finish(server, refused.challenge, { passkey: key.get(refused.publicKey as Options) })
  t.is(done.status, 200)
  t.like(await json(browser(cookieOf(done))('/api/me')), { id: person.id })
})

test('a passkey with user verification signs in without a password', async t => {
  const { person, key } = await withPasskey('alone')
  const done = await alone(key)
  t.is(done.status, 200)
  t.like(await json(browser(cookieOf(done))('/api/me')), { id: person.id })
})

const wrongs: Readonly<Record<string, Wrong>> = {
  'another origin': { origin: 'https://data.example.org.evil.example' },
  'the origin without TLS': { origin: 'http://data.example.org' },
  'another RP ID': { rpId: 'example.org' },
  'another challenge': { challenge: Buffer.from('another challenge').toString('base64url') },
  'a user that was not verified': { isUnverified: true },
}

for (const [name, wrong] of Object.entries(wrongs))
  test(`${name} is refused when a passkey is added, as second factor and without a password`, async t => {
    const { person, session, key } = await withPasskey('wrong')
    const { enrolment, publicKey } = await begin(session)
    t.is(await statusOf(add(session, enrolment, new Authenticator(origin).create(publicKey, wrong))), 400)
    t.is((await finishWith(person, key, wrong)).status, 401)
    t.is((await alone(key, wrong)).status, 401)
    t.is((await finishWith(person, key)).status, 200)
  })

test('a signature counter that does not increase is refused', async t => {
  const { person, key } = await withPasskey('cloned')
  t.is((await finishWith(person, key, { counter: 7 })).status, 200)
  for (const counter of [7, 6, 0]) {
    t.is((await finishWith(person, key, { counter })).status, 401)
    t.is((await alone(key, { counter })).status, 401)
  }
  t.is((await alone(key, { counter: 8 })).status, 200)
})

test('an assertion is valid once, for one purpose and one account', async t => {
  const { person, key } = await withPasskey('replayed')
  const other = await withPasskey('other')
  const { challenge, publicKey } = await challengeOf(server, person)
  const passkey = key.get(publicKey as Options)
  const theirs = await challengeOf(server, other.person)
  t.is(await statusOf(finish(server, theirs.challenge, { passkey })), 401)
  t.is(await statusOf(finish(server, theirs.challenge, { passkey: key.get(theirs.publicKey as Options) })), 401)
  t.is(await statusOf(post(server.as(), '/api/login/passkey', { challenge, passkey })), 401)
  t.is(await statusOf(finish(server, challenge, { passkey })), 200)
  t.is(await statusOf(finish(server, challenge, { passkey })), 401)
  t.is(await statusOf(finish(server, challenge, { passkey: key.get(publicKey as Options) })), 401)
})

test('a passkey with the user handle of another account, or none, is refused', async t => {
  const { person, key } = await withPasskey('handle')
  const other = await withPasskey('victim')
  for (const userHandle of [other.person.id, server.admin.id, 'f'.repeat(24), ''])
    t.is((await alone(key, { userHandle: Buffer.from(userHandle).toString('base64url') })).status, 401)
  t.is((await alone(new Authenticator(origin), { userHandle: Buffer.from(person.id).toString('base64url') })).status, 401)
})

test('a suspended account cannot sign in with a passkey either', async t => {
  const { person, key } = await withPasskey('suspended')
  await server.get(Users).change(person.id, { set: { status: 'Inactive' } }, [])
  t.is((await alone(key)).status, 401)
})

test('failed passkey sign-ins are throttled like wrong passwords', async t => {
  const { person, key } = await withPasskey('guessed')
  const seen: number[] = []
  for (let at = 0; at < 21; at += 1) seen.push((await alone(key, { isUnverified: true })).status)
  t.deepEqual(seen.slice(19), [401, 429])
  t.is(await statusOf(server.as()('/api/login', { method: 'POST', json: { email: person.email, password: person.password } })), 429)
})

test('several passkeys of an account are listed, renamed and removed; removed ones are refused', async t => {
  const { person, session, key, id } = await withPasskey('several')
  const second = new Authenticator(origin)
  const { enrolment, publicKey } = await begin(session)
  t.deepEqual(
    publicKey.excludeCredentials?.map(each => each.id),
    [key.id],
  )
  const added = await json<{ id: string; recoveryCodes?: string[] }>(add(session, enrolment, second.create(publicKey), 'phone'))
  t.is(added.recoveryCodes, undefined, 'no new recovery codes are issued')
  t.is(await statusOf(add(session, enrolment, second.create(publicKey), 'again')), 400)
  const at = (passkey: string) => `/api/second-factors/passkeys/${passkey}`
  t.is(await statusOf(session(at(id), { method: 'PUT', json: { name: 'old laptop' } })), 200)
  const names = async () => (await json<{ passkeys: { name: string }[] }>(session('/api/second-factors'))).passkeys.map(({ name }) => name)
  t.deepEqual(await names(), ['old laptop', 'phone'])
  t.is(await statusOf(session(at('f'.repeat(24)), { method: 'DELETE' })), 404)
  t.is(await statusOf(session(at(id), { method: 'DELETE' })), 200)
  t.deepEqual(await names(), ['phone'])
  t.is((await alone(key)).status, 401)
  t.is((await alone(second)).status, 200)
  t.is(await statusOf(session(at(added.id), { method: 'DELETE' })), 200)
  t.is((await alone(second)).status, 401)
  t.is(await statusOf(server.as()('/api/login', { method: 'POST', json: { email: person.email, password: person.password } })), 200)
})

test('an enrolment cannot be completed by another user', async t => {
  const [ann, bob] = [await newPerson(server, 'mine'), await newPerson(server, 'theirs')]
  const sessions = [browser(await signIn(server, ann.email, ann.password)), browser(await signIn(server, bob.email, bob.password))] as const
  const { enrolment, publicKey } = await begin(sessions[0], ann.password)
  t.like(await refusal(await add(sessions[1], enrolment, new Authenticator(origin).create(publicKey))), { httpStatus: 400 })
})

test('malformed credentials are refused', async t => {
  const { person, key } = await withPasskey('broken')
  const { challenge, publicKey } = await challengeOf(server, person)
  const right = key.get(publicKey as Options)
  const broken = [
    { ...right, response: { ...right.response, authenticatorData: '' } },
    { ...right, response: { ...right.response, clientDataJSON: 'e30' } },
    { ...right, response: { ...right.response, signature: 'AAAA' } },
    { ...right, rawId: 'other' },
  ]
  for (const passkey of broken) t.is(await statusOf(finish(server, challenge, { passkey })), 401)
  t.is(await statusOf(finish(server, challenge, { passkey: { ...right, id: 'not base64url!' } })), 400)
  t.is(await statusOf(finish(server, challenge, { passkey: { id: right.id } })), 400)
  t.is(await statusOf(finish(server, challenge, { passkey: right })), 200)
})
