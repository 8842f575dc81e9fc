import test from 'ava'
import { Users } from 'pounce/sdk'
import { FixedClock } from 'pounce/sdk/testing'
import { callsOf } from '../support/calls.ts'
import { lastToken, mailsTo } from '../support/mails.ts'
import { type OutsideServer, outsideServer } from '../support/outside-server.ts'

const ends: (() => Promise<void>)[] = []
const clock = new FixedClock()
const place = await outsideServer({ teardown: end => void ends.push(end) }, { users: { linksByEmail: true }, clock })
const { server, mailer } = place
const nobody = callsOf(server.as())
const admin = callsOf(server.as(server.admin.key))
test.after.always(async () => {
  for (const end of ends.reverse()) await end()
})
const identitiesOf = async ({ server: at }: OutsideServer, id: string) => (await at.get(Users).get(id))?.identities ?? []
const refused = async ({ signIn }: OutsideServer, sub: string, email: string) => {
  const { answer } = await signIn({ sub, email })
  return { status: answer.status, message: ((await answer.json()) as { message?: string }).message }
}

test.serial('by default a verified address gives no access to an existing account, and no mail is sent', async t => {
  const own = await outsideServer(t)
  const id = await own.account('closed@example.org')
  t.is((await refused(own, 'closed', 'closed@example.org')).status, 401)
  t.is((await mailsTo(own.server, own.mailer, 'closed@example.org')).length, 0)
  t.deepEqual(await identitiesOf(own, id), [])
})

test.serial('an account is linked once its owner has confirmed it by mail, and its owner is notified', async t => {
  const id = await place.account('linked@example.org', 'a good password')
  t.is((await refused(place, 'linked', 'linked@example.org')).status, 401)
  t.is((await refused(place, 'linked', 'linked@example.org')).status, 401)
  t.deepEqual(await identitiesOf(place, id), [])
  t.is((await mailsTo(server, mailer, 'linked@example.org')).length, 1)
  const token = await lastToken(server, mailer, 'linked@example.org')
  const shown = { email: 'linked@example.org', provider: 'uni', label: 'Example University' }
  t.like(await nobody.get(`/api/login/link?token=${token}`), { status: 200, body: shown })
  t.deepEqual(await identitiesOf(place, id), [])
  for (const wrong of ['x', `${token}x`, token.slice(0, -1)]) t.is((await nobody.post('/api/login/link', { token: wrong })).status, 403)
  t.is((await nobody.post('/api/login/link', { token })).status, 200)
  t.is((await nobody.post('/api/login/link', { token })).status, 403)
  t.is((await place.whoIs((await place.signIn({ sub: 'linked', email: 'elsewhere@example.org' })).browser))?.id, id)
  const mails = await mailsTo(server, mailer, 'linked@example.org')
  t.true(mails.some(({ subject }) => /New sign-in method/.test(subject)))
  for (const { text } of mails) t.regex(text, /^Someone signed in with Example University using your email address/)
  t.is((await nobody.post('/api/login', { email: 'linked@example.org', password: 'a good password' })).status, 200)
})

test.serial('the account of a server admin is never linked, and the refusal does not reveal it', async t => {
  const [id, other] = [await place.account('boss@example.org'), await place.account('worker@example.org')]
  await admin.post('/api/admin/users', { admin: [id] })
  const mailCount = (await mailsTo(server, mailer, 'boss@example.org')).length
  t.deepEqual(await refused(place, 'boss', 'boss@example.org'), await refused(place, 'worker', 'worker@example.org'))
  t.is((await mailsTo(server, mailer, 'boss@example.org')).length, mailCount)
  // The link was requested before the account became an admin.
  const token = await lastToken(server, mailer, 'worker@example.org')
  await admin.post('/api/admin/users', { admin: [other] })
  t.is((await nobody.post('/api/login/link', { token })).status, 403)
  for (const each of [id, other]) t.deepEqual(await identitiesOf(place, each), [])
})

test.serial('a confirmation link expires after a day or a password change', async t => {
  const [late, changed] = [await place.account('late@example.org'), await place.account('changed@example.org', 'a good password')]
  const tokens = []
  for (const name of ['late', 'changed']) {
    await refused(place, name, `${name}@example.org`)
    tokens.push(await lastToken(server, mailer, `${name}@example.org`))
  }
  const [first, second] = tokens
  const signedIn = await server.as()('/api/login', { method: 'POST', json: { email: 'changed@example.org', password: 'a good password' } })
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  const change = { password: 'a good password', newPassword: 'a better password' }
  const headers = { cookie, 'sec-fetch-site': 'same-origin' }
  t.is((await server.as()('/api/password', { method: 'POST', json: change, headers })).status, 200)
  t.is((await nobody.post('/api/login/link', { token: second })).status, 403)
  clock.advance(24 * 3_600_000)
  t.is((await nobody.post('/api/login/link', { token: first })).status, 403)
  for (const each of [late, changed]) t.deepEqual(await identitiesOf(place, each), [])
})
