import test from 'ava'
import { event, Mailer, Users } from 'pounce/sdk'
import { bootForTest, FixedClock, MemoryMailer } from 'pounce/sdk/testing'
import { callsOf, idOf, nextOf } from '../support/calls.ts'
import { lastToken } from '../support/mails.ts'
import { newPerson } from '../support/people.ts'
import { meet, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'

const mailer = new MemoryMailer()
const clock = new FixedClock()
const server = await bootForTest({
  overrides: { [Mailer]: mailer },
  clock,
  config: { access: { private: true }, auth: { local: { registerThroughAdmins: false } } },
})
test.after.always(() => server.stop())
const admin = callsOf(server.as(server.admin.key))
const nobody = callsOf(server.as())
const unknownId = 'f'.repeat(24)
const ok = { status: 'success' }
const users = server.get(Users)

let made = 0
const newAddress = (): string => {
  made += 1
  return `guest${made}@elsewhere.example`
}
const roleIn = async (id: string, space: string) => {
  const held = (await users.get(id))?.memberships.find(one => one.space === space)?.role
  return (await users.roles()).find(role => role.id === held)?.name
}
const invite = async (by: Somebody, space: string, json: object) =>
  (await by.post(`/api/spaces/${space}/invite`, json)).body as { status: string }[]
const waiting = async (by: Somebody, space: string) =>
  (await by.get(`/api/spaces/${space}/invitations`)).body as { id: string; email: string; role: { name: string } }[]
const mailsTo = async (email: string) => {
  await server.drained()
  return mailer.sent.filter(({ to }) => to.includes(email))
}

test.serial('users visible to the inviter become members at once, others are invited by mail', async t => {
  const [ann, bob, cid] = [await somebody(server), await somebody(server), await somebody(server)]
  const [space, other] = [await newSpace(ann, 'Lake'), await newSpace(ann)]
  await meet(server, ann, bob)
  await meet(server, ann, cid)
  await invite(ann, other, { userIds: [bob.id] })
  const email = newAddress()
  const emails = [bob.email, cid.email, ` ${email.toUpperCase()} `, email, 'not an address', 'a@b\r\nc']
  const message = 'Come and see,\nit is deep'
  t.deepEqual(await invite(ann, space, { emails, userIds: [cid.id, unknownId, ann.id], message }), [
    { userId: cid.id, status: 'added' },
    { userId: unknownId, status: 'unknown' },
    { userId: ann.id, status: 'member' },
    { email: bob.email, status: 'added' },
    { email: cid.email, status: 'member' },
    { email, status: 'invited' },
    { email: 'not an address', status: 'invalid' },
    { email: 'a@b\r\nc', status: 'invalid' },
  ])
  for (const { id } of [bob, cid]) t.is(await roleIn(id, space), 'Viewer')
  t.is(await roleIn(ann.id, space), 'Admin')
  const [mail] = await mailsTo(email)
  t.regex(mail?.subject ?? '', /invites you to the space Lake$/)
  t.true(mail?.text.includes(message))
  t.true((await mailsTo(cid.email)).at(-1)?.text.includes(message))
  t.like(await waiting(ann, space), [{ email, role: { name: 'Viewer' } }])
})

test.serial('an account created with an invited address becomes a member at once', async t => {
  const ann = await somebody(server)
  const [space, other] = [await newSpace(ann), await newSpace(ann)]
  const email = newAddress()
  await invite(ann, space, { emails: [email], role: 'Editor' })
  await invite(ann, other, { emails: [email] })
  const token = await lastToken(server, mailer, email)
  const account = { token, firstName: 'New', lastName: 'Guest', password: 'come and see it' }
  const id = await idOf(nobody.post('/api/signup/finish', account))
  t.is((await nobody.post('/api/signup/finish', account)).status, 403)
  await server.drained()
  t.is(await roleIn(id, space), 'Editor')
  t.is(await roleIn(id, other), 'Viewer')
  t.deepEqual(await waiting(ann, space), [])
  t.true((await mailsTo(email)).some(({ subject }) => subject.includes('added you to the space')))
})

test.serial('an invited address grants no membership until it is verified', async t => {
  const ann = await somebody(server)
  const space = await newSpace(ann)
  const bob = await somebody(server)
  await users.change(bob.id, { set: { isEmailUnverified: true } }, [])
  t.like(await invite(ann, space, { emails: [bob.email] }), [{ status: 'invited' }])
  const [found] = await waiting(ann, space)
  t.deepEqual((await bob.get('/api/invitations')).body, [])
  t.is((await bob.post(`/api/invitations/${found?.id}/accept`)).status, 404)
  await users.change(bob.id, { set: { firstName: 'Bob' } }, [
    event('user.updated', { kind: 'user', id: bob.id }, { fields: ['firstName'] }),
  ])
  await server.drained()
  t.is(await roleIn(bob.id, space), undefined)
  await users.change(bob.id, { unset: ['isEmailUnverified'] }, [event('user.updated', { kind: 'user', id: bob.id }, { fields: [] })])
  await server.drained()
  t.is(await roleIn(bob.id, space), 'Viewer')
})

test.serial('the response does not reveal whether an address has an account; its owner accepts or declines', async t => {
  const [ann, bob, cid] = [await somebody(server), await somebody(server), await somebody(server)]
  const space = await newSpace(ann, 'Pond')
  // Invitations that exist when a sign-up is processed are accepted.
  await server.drained()
  const stranger = newAddress()
  const answers = await invite(ann, space, { emails: [bob.email, stranger, cid.email], message: 'Hello' })
  t.deepEqual(
    answers.map(({ status }) => status),
    ['invited', 'invited', 'invited'],
  )
  t.is((await bob.get(`/api/spaces/${space}`)).status, 404)
  const [mine] = (await bob.get('/api/invitations')).body as {
    id: string
    message: string
    space: object
    role: object
    author: { id: string }
  }[]
  t.like(mine, { space: { id: space, name: 'Pond' }, role: { name: 'Viewer' }, message: 'Hello', author: { id: ann.id } })
  t.is((await cid.post(`/api/invitations/${mine?.id}/accept`)).status, 404)
  t.is((await nobody.post(`/api/invitations/${mine?.id}/accept`)).status, 401)
  t.is((await nobody.get('/api/invitations')).status, 401)
  t.deepEqual((await bob.post(`/api/invitations/${mine?.id}/accept`)).body, ok)
  t.is((await bob.post(`/api/invitations/${mine?.id}/accept`)).status, 404)
  t.is((await bob.get(`/api/spaces/${space}`)).status, 200)
  const [other] = (await cid.get('/api/invitations')).body as { id: string }[]
  t.deepEqual((await cid.post(`/api/invitations/${other?.id}/decline`)).body, ok)
  t.is((await cid.post(`/api/invitations/${other?.id}/accept`)).status, 404)
  t.is(await roleIn(cid.id, space), undefined)
  t.deepEqual(
    (await waiting(ann, space)).map(({ email }) => email),
    [stranger],
  )
  for (const one of ['nonsense', unknownId]) {
    t.is((await bob.post(`/api/invitations/${one}/accept`)).status, 404)
    t.is((await bob.post(`/api/invitations/${one}/decline`)).status, 404)
  }
})

test.serial('an invitation can be renewed and revoked, and expires', async t => {
  const ann = await somebody(server)
  const [space, other] = [await newSpace(ann), await newSpace(ann)]
  const [email, late] = [newAddress(), newAddress()]
  await invite(ann, space, { emails: [email] })
  await invite(ann, space, { emails: [email], role: 'Editor' })
  const [found, ...more] = await waiting(ann, space)
  t.deepEqual(more, [])
  t.like(found, { email, role: { name: 'Editor' } })
  t.is((await mailsTo(email)).length, 2)
  for (const path of [`${other}/invitations/${found?.id}`, `${space}/invitations/nonsense`, `${space}/invitations/${unknownId}`])
    t.is((await ann.remove(`/api/spaces/${path}`)).status, 404, path)
  t.deepEqual((await ann.remove(`/api/spaces/${space}/invitations/${found?.id}`)).body, ok)
  t.is((await ann.remove(`/api/spaces/${space}/invitations/${found?.id}`)).status, 404)
  const id = await idOf(admin.post('/api/users', { email, firstName: 'No', lastName: 'Guest' }))
  await server.drained()
  t.is(await roleIn(id, space), undefined)
  await invite(ann, space, { emails: [late] })
  clock.advance(31 * 86_400_000)
  const tooLate = await newPerson(server)
  await users.change(tooLate.id, { set: { email: late } }, [])
  const [over] = await waiting(ann, space)
  t.is((await tooLate.call(`/api/invitations/${over?.id}/accept`, { method: 'POST' })).status, 404)
  await server.runPeriodic('resources.spaces/forget-invitations')
  await server.runPeriodic('resources.spaces/forget-quotas')
  t.deepEqual(await waiting(ann, space), [])
})

test.serial('the same invitation again sends no second mail within a minute, also from concurrent requests', async t => {
  const ann = await somebody(server)
  const space = await newSpace(ann)
  const email = newAddress()
  const answers = await Promise.all(Array.from({ length: 8 }, () => invite(ann, space, { emails: [email] })))
  for (const answer of answers) t.deepEqual(answer, [{ email, status: 'invited' }])
  t.is((await mailsTo(email)).length, 1)
  t.is((await waiting(ann, space)).length, 1)
  clock.advance(60_000)
  await Promise.all(Array.from({ length: 4 }, () => invite(ann, space, { emails: [email] })))
  t.is((await mailsTo(email)).length, 2)
  await invite(ann, space, { emails: [email], message: 'Please' })
  t.is((await mailsTo(email)).length, 3)
})

test.serial('an invitation is void once its author may no longer invite', async t => {
  const [ann, eve, cid] = [await somebody(server), await somebody(server), await somebody(server)]
  const space = await newSpace(ann)
  await meet(server, ann, eve)
  const email = newAddress()
  clock.advance(3_600_000)
  await server.drained()
  await invite(ann, space, { userIds: [eve.id], role: 'Admin' })
  await invite(eve, space, { emails: [email, cid.email], role: 'Admin' })
  await ann.remove(`/api/spaces/${space}/members/${eve.id}`)
  const id = await idOf(admin.post('/api/users', { email, firstName: 'Second', lastName: 'Guest' }))
  await server.drained()
  t.is(await roleIn(id, space), undefined)
  const [mine] = (await cid.get('/api/invitations')).body as { id: string }[]
  t.is((await cid.post(`/api/invitations/${mine?.id}/accept`)).status, 404)
  t.is(await roleIn(cid.id, space), undefined)
  t.deepEqual(await waiting(ann, space), [])
  await invite(ann, space, { emails: [cid.email] })
  t.is((await cid.post(`/api/invitations/${mine?.id}/accept`)).status, 200)
  t.is(await roleIn(cid.id, space), 'Viewer')
})

test.serial('a malformed invitation invites no one', async t => {
  const ann = await somebody(server)
  const space = await newSpace(ann)
  const email = newAddress()
  const wrong = [
    {},
    { emails: [] },
    { emails: 'x@y.z' },
    { emails: [7] },
    { emails: [''] },
    { userIds: ['nonsense'] },
    { emails: [email], role: 'King' },
    { emails: [email], message: 'nul\u0000' },
    { emails: Array(101).fill(email) },
  ]
  for (const json of wrong) t.is((await ann.post(`/api/spaces/${space}/invite`, json)).status, 400, JSON.stringify(json).slice(0, 80))
  for (const one of ['nonsense', unknownId]) {
    t.is((await ann.post(`/api/spaces/${one}/invite`, { emails: [email] })).status, 404)
    t.is((await ann.get(`/api/spaces/${one}/invitations`)).status, 404)
  }
  t.deepEqual(await waiting(ann, space), [])
  t.deepEqual(await mailsTo(email), [])
})

test.serial('lists of invitations are paged', async t => {
  const ann = await somebody(server)
  const space = await newSpace(ann)
  const emails = [newAddress(), newAddress(), newAddress()]
  for (const email of emails) {
    await invite(ann, space, { emails: [email] })
    clock.advance(1000)
  }
  const seen: string[] = []
  for (let next: string | undefined = `/api/spaces/${space}/invitations?limit=2`; next !== undefined; ) {
    const page = await ann.get(next)
    seen.push(...(page.body as { email: string }[]).map(({ email }) => email))
    next = nextOf(page)
  }
  t.deepEqual(seen, emails)
})

test.serial('invitations and join requests are limited per user and hour', async t => {
  const [ann, eve] = [await somebody(server), await somebody(server)]
  const space = await newSpace(ann)
  const many = (count: number) => Array.from({ length: count }, newAddress)
  t.is((await ann.post(`/api/spaces/${space}/invite`, { emails: many(60) })).status, 200)
  const statuses = await Promise.all(
    Array.from({ length: 6 }, async () => (await ann.post(`/api/spaces/${space}/invite`, { emails: many(10) })).status),
  )
  t.deepEqual(statuses.sort(), [200, 200, 200, 200, 429, 429])
  const refused = await ann.call(`/api/spaces/${space}/invite`, { method: 'POST', json: { emails: many(1) } })
  t.is(refused.status, 429)
  t.true(Number(refused.headers.get('retry-after')) > 0)
  await admin.put(`/api/spaces/${space}/verify`)
  const requested: number[] = []
  for (let n = 0; n < 21; n += 1) {
    const one = await newSpace(ann)
    await admin.put(`/api/spaces/${one}/verify`)
    await ann.post(`/api/spaces/${one}/update`, { name: 'open', description: '', timetolive: '1', enabled: false, access: 'PUBLIC' })
    requested.push((await eve.post(`/api/spaces/${one}/request`, {})).status)
  }
  t.deepEqual(requested, [...Array(20).fill(200), 429])
})

test.serial('invitations to a deleted space are void, and a deleted role is replaced', async t => {
  const ann = await somebody(server)
  const [space, gone] = [await newSpace(ann), await newSpace(ann)]
  const email = newAddress()
  const role = await idOf(admin.post('/api/roles', { name: 'Passing', permissions: ['ViewSpace'] }))
  clock.advance(3_600_000)
  await invite(ann, space, { emails: [email], role })
  await invite(ann, gone, { emails: [email] })
  t.is((await admin.remove(`/api/roles/${role}`)).status, 200)
  t.like(await waiting(ann, space), [{ role: { name: 'Viewer' } }])
  await ann.remove(`/api/spaces/${gone}`)
  await server.drained()
  const id = await idOf(admin.post('/api/users', { email, firstName: 'Late', lastName: 'Guest' }))
  await server.drained()
  t.deepEqual(
    (await users.get(id))?.memberships.map(held => held.space),
    [space],
  )
  t.is(await roleIn(id, space), 'Viewer')
})

test.serial('concurrent invitations and removals leave at most one membership', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const space = await newSpace(ann)
  await meet(server, ann, bob)
  clock.advance(3_600_000)
  for (let round = 0; round < 5; round += 1) {
    await Promise.all([
      invite(ann, space, { userIds: [bob.id] }),
      ann.remove(`/api/spaces/${space}/members/${bob.id}`),
      invite(ann, space, { userIds: [bob.id], role: 'Editor' }),
      ann.remove(`/api/spaces/${space}/members/${bob.id}`),
    ])
    t.true(((await users.get(bob.id))?.memberships.filter(held => held.space === space).length ?? 2) <= 1)
  }
})
