import test from 'ava'
import { Mailer, Users } from 'pounce/sdk'
import { bootForTest, MemoryMailer } from 'pounce/sdk/testing'
import { mailsTo } from '../support/mails.ts'
import { basic, byCookie, newKey, newPerson, signIn } from '../support/people.ts'
import { ok, unknownId } from '../support/scene.ts'

const base = ['documents.sqlite', 'access.policy', 'auth.local', 'resources.users', 'resources.institutions']
const mailer = new MemoryMailer()
const server = await bootForTest({ plugins: base, overrides: { [Mailer]: mailer } })
test.after.always(() => server.stop())
const admin = server.as(server.admin.key)

interface Shown {
  readonly profile: Readonly<Record<string, unknown>>
  readonly avatar: string
  readonly fullName: string
}
const put = (id: string, json: unknown, call = admin) => call(`/api/users/${id}`, { method: 'PUT', json })
const add = (path: string) => ok(admin(path, { method: 'POST' }))

test('users edit and clear their own profile', async t => {
  const person = await newPerson(server, 'profiled')
  await add('/api/institutions/addinstitution?institution=University%20of%20Here')
  for (const project of ['Rivers', 'Lakes']) await add(`/api/projects/addproject?project=${project}`)
  const change = {
    firstName: ' Zoë ',
    biography: 'Line one\nline two <b>',
    institution: 'university of  HERE',
    orcidId: '0000-0002-1825-009X',
    position: 'Reader',
    currentprojects: ['rivers'],
    pastprojects: ['Lakes'],
    avatarUrl: 'https://pictures.example.org/zoe.png?size=1',
    notifications: 'daily',
  }
  const shown = await ok<Shown>(put(person.id, change, person.call))
  const profile = {
    biography: 'Line one\nline two <b>',
    institution: 'University of Here',
    orcidId: '0000-0002-1825-009X',
    position: 'Reader',
    currentprojects: ['Rivers'],
    pastprojects: ['Lakes'],
  }
  t.deepEqual(shown.profile, profile)
  t.like(shown, { avatar: change.avatarUrl, fullName: 'Zoë Number 1' })
  t.like(await ok(person.call('/api/me')), { notifications: 'daily', profile })
  t.like(await ok(admin(`/api/users/${person.id}`)), { profile })
  const less = await ok<Shown>(put(person.id, { position: null, avatarUrl: null, currentprojects: null }, person.call))
  const { position: _, currentprojects: __, ...rest } = profile
  t.deepEqual(less.profile, rest)
  t.regex(less.avatar, /\/api\/avatars\/ZN-\d+$/)
})

test('a server admin may edit the profiles of others, other users may not', async t => {
  const [person, other] = [await newPerson(server, 'mine'), await newPerson(server, 'other')]
  t.is((await put(person.id, { position: 'x' }, server.as())).status, 401)
  t.is((await put(person.id, { position: 'x' }, other.call)).status, 403)
  const keys = [
    await newKey(server, person.email, person.password, 'name=extractor&scope=extraction'),
    await newKey(server, person.email, person.password, 'name=reader&verbs=read'),
  ]
  for (const key of keys) t.is((await put(person.id, { position: 'x' }, server.as(key))).status, 403)
  t.deepEqual((await server.get(Users).get(person.id))?.profile, {})
  t.is((await put(person.id, { position: 'Director' })).status, 200)
  for (const id of [unknownId, 'nonsense']) t.is((await put(id, { position: 'x' })).status, 404)
  await server.get(Users).change(person.id, { set: { status: 'ReadOnly' } }, [])
  t.is((await put(person.id, { position: 'x' }, person.call)).status, 403)
})

test('only the listed fields are changed', async t => {
  const person = await newPerson(server, 'smuggler')
  const before = await server.get(Users).get(person.id)
  const smuggled = {
    ...{ id: unknownId, email: 'other@example.org', status: 'Admin', provider: 'ldap', passwordHash: 'x', termsAccepted: '2030-01-01' },
    ...{
      memberships: [{ space: unknownId, role: unknownId }],
      groups: [unknownId],
      identities: ['oidc x'],
      followed: [],
      lastLogin: 'x',
      created: 'x',
    },
    ...{ profile: { biography: 'x' }, 'profile.biography': 'x', avatar: 'https://x.example', fullName: 'X', revision: 0 },
  }
  t.is((await put(person.id, smuggled, person.call)).status, 400)
  t.deepEqual(await server.get(Users).get(person.id), before)
  t.is((await put(person.id, { ...smuggled, position: 'Reader' }, person.call)).status, 200)
  const { revision: _, profile, ...after } = (await server.get(Users).get(person.id))!
  const { revision: __, profile: ___, ...was } = before!
  t.deepEqual(after, was)
  t.deepEqual(profile, { position: 'Reader' })
})

test('malformed input is refused', async t => {
  const person = await newPerson(server, 'wrong')
  const wrong: readonly object[] = [
    ...[
      'http://x.example/a.png',
      'javascript:alert(1)',
      'https://x.example/a"b',
      'https://x .example',
      `https://x.example/${'a'.repeat(2000)}`,
      '',
    ].map(avatarUrl => ({ avatarUrl })),
    ...['1234', '0000-0002-1825-0097-1', 'https://evil.example/0000-0002-1825-0097'].map(orcidId => ({ orcidId })),
    ...[
      { biography: 'x'.repeat(10_001) },
      { biography: 'a\u0000' },
      { position: '' },
      { position: 'a\nb' },
      { firstName: null },
      { firstName: '  ' },
      { lastName: '' },
    ],
    ...[{ currentprojects: 'Rivers' }, { pastprojects: Array(101).fill('Lakes') }, { notifications: 'weekly' }, { notifications: null }],
    ...[{ institution: 'Nowhere' }, { currentprojects: ['Nothing'] }, {}],
  ]
  for (const json of wrong) t.is((await put(person.id, json, person.call)).status, 400, JSON.stringify(json).slice(0, 80))
  t.deepEqual((await server.get(Users).get(person.id))?.profile, {})
})

test('without stored lists of names, any name is accepted', async t => {
  const plain = await bootForTest({ t, plugins: base.slice(0, 4) })
  const shown = await ok<Shown>(
    plain.as(plain.admin.key)(`/api/users/${plain.admin.id}`, { method: 'PUT', json: { institution: 'Anywhere', pastprojects: ['Any'] } }),
  )
  t.deepEqual(shown.profile, { institution: 'Anywhere', pastprojects: ['Any'] })
})

test('on a private server, an account is 404 by id and address for callers who may not view it', async t => {
  const closed = await bootForTest({ t, plugins: base, config: { access: { private: true } } })
  const [one, stranger, colleague] = [
    await newPerson(closed, 'one'),
    await newPerson(closed, 'stranger'),
    await newPerson(closed, 'colleague'),
  ]
  const users = closed.get(Users)
  const viewer = (await users.roles()).find(({ name }) => name === 'Viewer')!.id
  for (const { id } of [one, colleague]) await users.setMembership(id, unknownId, viewer)
  for (const path of [`/api/users/${one.id}`, `/api/users/email/${one.email}`]) {
    t.is((await closed.as()(path)).status, 401)
    const hidden = await stranger.call(path)
    t.is(hidden.status, 404)
    const missing = await stranger.call(path.replace(one.id, unknownId).replace(one.email, 'unknown@example.org'))
    const bare = async (answer: Response) => ({ ...((await answer.json()) as object), requestId: '' })
    t.deepEqual(await bare(hidden), await bare(missing))
    for (const call of [one.call, colleague.call, closed.as(closed.admin.key)]) t.is((await call(path)).status, 200)
  }
  t.is((await stranger.call(`/api/users/follow?followeeUUID=${one.id}`, { method: 'POST' })).status, 404)
})

test('each status change is mailed to the account owner and applies at the next request, with any credential', async t => {
  const person = await newPerson(server, 'standing')
  let session = byCookie(server, await signIn(server, person.email, person.password))
  const withBasic = () => server.as()('/api/me', { headers: { authorization: basic(person.email, person.password) } })
  const seen = async () => [(await person.call('/api/me')).status, (await session('/api/me')).status, (await withBasic()).status]
  t.deepEqual(await seen(), [200, 200, 200])
  const set = async (json: object): Promise<void> => {
    await ok(admin('/api/admin/users', { method: 'POST', json }))
    // A mail is about the status at the time it is sent.
    await server.drained()
  }
  await set({ inactive: [person.id] })
  t.deepEqual(await seen(), [401, 401, 401])
  t.is((await server.as()('/api/login', { method: 'POST', json: { email: person.email, password: person.password } })).status, 401)
  await set({ readonly: [person.id] })
  t.deepEqual(await seen(), [200, 401, 200], 'a suspension has ended the session')
  session = byCookie(server, await signIn(server, person.email, person.password))
  t.deepEqual(await seen(), [200, 200, 200])
  for (const call of [person.call, session]) t.is((await put(person.id, { position: 'x' }, call)).status, 403)
  await set({ admin: [person.id] })
  t.is((await session('/api/users')).status, 200)
  await set({ admin: [person.id] })
  await set({ active: [person.id] })
  t.is((await session('/api/users')).status, 403)
  const subjects = (await mailsTo(server, mailer, person.email)).map(({ subject }) => subject.replace('[Pounce] ', ''))
  t.deepEqual(subjects.toSorted(), [
    'You are a server admin',
    'Your account is active',
    'Your account is not active',
    'Your account is read-only',
  ])
})

test('admins who demote each other concurrently leave at least one', async t => {
  const own = await bootForTest({ t, plugins: base })
  const users = own.get(Users)
  for (let round = 0; round < 5; round += 1) {
    const chiefs = await Promise.all([1, 2, 3].map(() => newPerson(own, 'chief')))
    for (const { id } of chiefs) await users.change(id, { set: { status: 'Admin' } }, [])
    await users.change(own.admin.id, { set: { status: 'Active' } }, [])
    const ring = chiefs.map(({ call }, at) => call('/api/admin/users', { method: 'POST', json: { readonly: [chiefs[(at + 1) % 3]!.id] } }))
    for (const answer of await Promise.all(ring)) t.true([200, 401, 403, 409].includes(answer.status), String(answer.status))
    t.true((await users.admins()).length > 0)
    for (const { id } of chiefs) await users.change(id, { set: { status: 'ReadOnly' } }, [])
    await users.change(own.admin.id, { set: { status: 'Admin' } }, [])
  }
})

test('signing in records the time of the last login', async t => {
  const person = await newPerson(server, 'seen')
  t.is((await server.get(Users).get(person.id))?.lastLogin, null)
  const before = new Date().toISOString()
  await signIn(server, person.email, person.password)
  const first = (await server.get(Users).get(person.id))?.lastLogin ?? ''
  const after = new Date().toISOString()
  t.true(before <= first && first <= after, first)
})
