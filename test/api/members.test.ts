import test from 'ava'
import { Mailer, Spaces, Users } from 'pounce/sdk'
import { bootForTest, MemoryMailer } from 'pounce/sdk/testing'
import { allIds, callsOf, idOf, nextOf } from '../support/calls.ts'
import { refusal } from '../support/people.ts'
import { letIn, meet, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'

const mailer = new MemoryMailer()
const server = await bootForTest({ overrides: { [Mailer]: mailer }, config: { access: { private: true } } })
test.after.always(() => server.stop())
const admin = callsOf(server.as(server.admin.key))
const nobody = callsOf(server.as())
const unknownId = 'f'.repeat(24)
const ok = { status: 'success' }

const roleOf = async (person: Somebody, space: string) => {
  const held = (await server.get(Users).get(person.id))?.memberships.filter(one => one.space === space) ?? []
  if (held.length > 1) throw new Error('a double membership')
  return (await server.get(Users).roles()).find(({ id }) => id === held[0]?.role)?.name
}
const people = async (count: number) => {
  const made = await Promise.all(Array.from({ length: count }, () => somebody(server)))
  await meet(server, ...made)
  return made
}
const mailsTo = async (person: Somebody) => {
  await server.drained(30_000)
  return mailer.sent.filter(({ to }) => to.includes(person.email)).map(({ subject }) => subject)
}
interface Member {
  readonly type: string
  readonly id: string
  readonly name: string
  readonly email?: string
  readonly role: { readonly name: string }
}

test.serial('members are listed with their roles, groups first, page by page', async t => {
  const [ann, bob, cid] = (await people(3)) as [Somebody, Somebody, Somebody]
  const space = await newSpace(ann)
  await letIn(ann, space, 'Viewer', bob)
  await letIn(ann, space, 'Editor', cid)
  const group = await idOf(admin.post('/api/groups', { name: 'listed' }))
  await admin.put(`/api/spaces/${space}/groups/${group}?superAdmin=true`, { role: 'Editor' })
  const all = (await bob.get(`/api/spaces/${space}/members`)).body as Member[]
  t.deepEqual(
    all.map(({ type, id, role }) => [type, id, role.name]),
    [
      ['group', group, 'Editor'],
      ...[
        [ann.id, 'Admin'],
        [bob.id, 'Viewer'],
        [cid.id, 'Editor'],
      ]
        .sort()
        .map(row => ['user', ...row]),
    ],
  )
  t.is(all.find(({ id }) => id === ann.id)?.email, ann.email)
  for (const limit of [1, 2, 3, 4]) {
    const paged = await allIds(bob.get, `/api/spaces/${space}/members?limit=${limit}`)
    t.deepEqual(
      paged,
      all.map(({ id }) => id),
      `by ${limit}`,
    )
  }
  t.is(nextOf(await bob.get(`/api/spaces/${space}/members?limit=4`)), undefined)
})

test.serial('members are shown to callers who may view the space', async t => {
  const [ann, bob] = (await people(2)) as [Somebody, Somebody]
  const space = await newSpace(ann)
  t.is((await bob.get(`/api/spaces/${space}/members`)).status, 404)
  t.is((await nobody.get(`/api/spaces/${space}/members`)).status, 401)
  for (const one of ['nonsense', unknownId]) t.is((await ann.get(`/api/spaces/${one}/members`)).status, 404)
  for (const after of ['nonsense', `2_${unknownId}`, '0_x'])
    t.is((await ann.get(`/api/spaces/${space}/members?after=${after}`)).status, 400, after)
  t.is((await ann.get(`/api/spaces/${space}/members?limit=0`)).status, 400)
})

test.serial('a user is added, gets another role and is removed, with a mail for each', async t => {
  const [ann, bob] = (await people(2)) as [Somebody, Somebody]
  const space = await newSpace(ann, 'told')
  const path = `/api/spaces/${space}/members/${bob.id}`
  t.deepEqual((await ann.put(path, { role: 'Viewer' })).body, ok)
  await server.drained(30_000)
  t.deepEqual((await ann.put(path, { role: 'Editor' })).body, ok)
  t.is(await roleOf(bob, space), 'Editor')
  await server.drained(30_000)
  t.deepEqual((await ann.remove(path)).body, ok)
  t.is(await roleOf(bob, space), undefined)
  t.is((await bob.get(`/api/spaces/${space}`)).status, 404)
  t.is((await ann.remove(path)).status, 400)
  const mails = await mailsTo(bob)
  t.is(mails.length, 3)
  t.regex(mails[0] ?? '', /added you to the space told$/)
  t.regex(mails[1] ?? '', /gave you the role Editor in the space told$/)
  t.regex(mails[2] ?? '', /removed you from the space told$/)
})

test.serial('only users who can edit a space manage its members', async t => {
  const [ann, bob, cid] = (await people(3)) as [Somebody, Somebody, Somebody]
  const space = await newSpace(ann)
  await letIn(ann, space, 'Editor', bob)
  for (const [person, status] of [
    [bob, 403],
    [cid, 404],
    [nobody, 401],
  ] as const) {
    t.is((await person.put(`/api/spaces/${space}/members/${cid.id}`, { role: 'Admin' })).status, status)
    t.is((await person.remove(`/api/spaces/${space}/members/${ann.id}`)).status, status)
    t.is((await person.post(`/api/spaces/${space}/invite`, { userIds: [cid.id] })).status, status)
    t.is((await person.get(`/api/spaces/${space}/invitations`)).status, status)
    t.is((await person.get(`/api/spaces/${space}/requests`)).status, status)
    t.is((await person.remove(`/api/spaces/${space}/invitations/${unknownId}`)).status, status)
  }
  for (const one of ['nonsense', unknownId]) {
    t.is((await ann.put(`/api/spaces/${one}/members/${bob.id}`, { role: 'Viewer' })).status, 404)
    t.is((await ann.put(`/api/spaces/${space}/members/${one}`, { role: 'Viewer' })).status, 404)
    t.is((await ann.remove(`/api/spaces/${one}/members/${bob.id}`)).status, 404)
  }
  t.is((await ann.remove(`/api/spaces/${space}/members/${unknownId}`)).status, 400)
  for (const json of [{}, { role: 'King' }, { role: '' }, { role: 7 }])
    t.is((await ann.put(`/api/spaces/${space}/members/${bob.id}`, json)).status, 400)
  t.is(await roleOf(bob, space), 'Editor')
})

test.serial('the last user who can edit a space cannot be removed', async t => {
  const [ann, bob, cid] = (await people(3)) as [Somebody, Somebody, Somebody]
  const space = await newSpace(ann)
  await letIn(ann, space, 'Editor', bob)
  const refused = [
    ann.put(`/api/spaces/${space}/members/${ann.id}`, { role: 'Viewer' }),
    ann.remove(`/api/spaces/${space}/members/${ann.id}`),
    ann.post(`/api/spaces/${space}/removeUser?removeUser=${ann.id}`),
    ann.post(`/api/spaces/${space}/updateUsers`, { rolesandusers: { Admin: '' } }),
    ann.post(`/api/spaces/${space}/updateUsers`, { rolesandusers: { Viewer: ann.id } }),
    ann.post(`/api/spaces/${space}/leave`),
  ]
  for (const { status } of await Promise.all(refused)) t.is(status, 409)
  t.is(await roleOf(ann, space), 'Admin')
  await server.get(Users).change(cid.id, { set: { status: 'ReadOnly' } }, [])
  t.is((await ann.put(`/api/spaces/${space}/members/${cid.id}`, { role: 'Admin' })).status, 200)
  t.is((await ann.post(`/api/spaces/${space}/leave`)).status, 409, 'a ReadOnly account cannot edit the space')
  t.deepEqual((await ann.post(`/api/spaces/${space}/updateUsers`, { rolesandusers: { Admin: bob.id } })).body, ok)
  t.deepEqual(await Promise.all([ann, bob, cid].map(one => roleOf(one, space))), [undefined, 'Admin', undefined])
})

test.serial('members can leave a space', async t => {
  const [ann, bob, cid] = (await people(3)) as [Somebody, Somebody, Somebody]
  const space = await newSpace(ann)
  await letIn(ann, space, 'Viewer', bob)
  t.is((await nobody.post(`/api/spaces/${space}/leave`)).status, 401)
  t.deepEqual((await bob.post(`/api/spaces/${space}/leave`)).body, ok)
  t.is(await roleOf(bob, space), undefined)
  t.deepEqual((await mailsTo(bob)).length, 1)
  const answers = await Promise.all(
    [space, unknownId, 'nonsense'].map(async one => refusal(await cid.call(`/api/spaces/${one}/leave`, { method: 'POST' }))),
  )
  for (const answer of answers) t.deepEqual(answer, answers[0])
  t.is(answers[0]?.['httpStatus'], 404)
})

test.serial('of two admins who leave concurrently one is refused, without a feed entry or mail about it', async t => {
  const [ann, bob] = (await people(2)) as [Somebody, Somebody]
  for (let round = 0; round < 5; round += 1) {
    const space = await newSpace(ann, `left ${round}`)
    await ann.put(`/api/spaces/${space}/members/${bob.id}`, { role: 'Admin' })
    const statuses = await Promise.all([ann, bob].map(async one => (await one.post(`/api/spaces/${space}/leave`)).status))
    t.deepEqual(statuses.toSorted(), [200, 409])
    t.deepEqual((await Promise.all([ann, bob].map(one => roleOf(one, space)))).filter(Boolean), ['Admin'])
  }
  const lines = async (one: Somebody) => (await one.get('/api/events?limit=200')).body as readonly { id: string; event_type: string }[]
  const mails = [...(await mailsTo(ann)), ...(await mailsTo(bob))]
  t.deepEqual(
    mails.filter(subject => subject.includes('The server')),
    [],
  )
  const departures = [...(await lines(ann)), ...(await lines(bob))].filter(line => line.event_type === 'remove_user_from_space')
  t.is(new Set(departures.map(({ id }) => id)).size, 5)
})

test.serial('a request to join is recorded once and can be withdrawn', async t => {
  const [ann, bob, cid] = (await people(3)) as [Somebody, Somebody, Somebody]
  const space = await newSpace(ann, 'wanted')
  const group = await idOf(admin.post('/api/groups', { name: 'onlookers' }))
  const path = `/api/spaces/${space}/request`
  t.is((await bob.post(path, {})).status, 404)
  t.is((await nobody.post(path, {})).status, 401)
  const { id: viewing } = (await admin.post('/api/roles', { name: 'Onlooker', permissions: ['ViewSpace'] })).body as { id: string }
  t.is((await ann.post(path, {})).status, 400)
  await admin.put(`/api/spaces/${space}/groups/${group}?superAdmin=true`, { role: viewing })
  await admin.post(`/api/groups/${group}/members`, { users: [bob.id, cid.id] })
  t.is((await bob.post(path, {})).status, 400, 'members through a group are members')
  await ann.remove(`/api/spaces/${space}/groups/${group}`)
  await callsOf(server.as(server.admin.key)).put(`/api/spaces/${space}/verify`)
  await ann.post(`/api/spaces/${space}/update`, { name: 'wanted', description: '', timetolive: '1', enabled: false, access: 'PUBLIC' })
  t.deepEqual((await bob.post(path, { message: 'Please\nlet me in' })).body, ok)
  t.deepEqual((await bob.post(path, {})).body, ok)
  t.deepEqual((await cid.post(path, {})).body, ok)
  const requested = (await ann.get(`/api/spaces/${space}/requests`)).body as { user: { id: string; fullName: string }; message?: string }[]
  t.deepEqual(
    requested.map(({ user, message }) => [user.id, message]),
    [
      [bob.id, 'Please\nlet me in'],
      [cid.id, undefined],
    ],
  )
  const first = await ann.get(`/api/spaces/${space}/requests?limit=1`)
  t.is((first.body as unknown[]).length, 1)
  t.like(((await ann.get(nextOf(first) ?? '')).body as { user: { id: string } }[])[0], { user: { id: cid.id } })
  t.deepEqual((await mailsTo(ann)).filter(subject => subject.includes('requests to join')).length, 2)
  t.deepEqual((await bob.remove(path)).body, ok)
  t.is((await bob.remove(path)).status, 404)
  t.is((await bob.remove(`/api/spaces/${unknownId}/request`)).status, 404)
  t.is((await ann.post(`/api/spaces/${space}/acceptRequest?user=${bob.id}`)).status, 404)
  t.is((await server.get(Spaces).get(space))?.requests.length, 1)
})

test.serial('a request is removed when its sender becomes a member otherwise, and the role is kept', async t => {
  const [ann, bob] = (await people(2)) as [Somebody, Somebody]
  const space = await newSpace(ann)
  const at = new Date().toISOString()
  await server.get(Spaces).change(space, { set: { requests: [{ user: bob.id, at }] } }, [])
  await letIn(ann, space, 'Editor', bob)
  await ann.post(`/api/spaces/${space}/acceptRequest?user=${bob.id}`)
  await server.drained(30_000)
  t.deepEqual((await server.get(Spaces).get(space))?.requests, [])
  t.is(await roleOf(bob, space), 'Editor')
})

test.serial('of several concurrent decisions on one request one succeeds', async t => {
  const [ann, bob, cid] = (await people(3)) as [Somebody, Somebody, Somebody]
  const space = await newSpace(ann)
  await letIn(ann, space, 'Admin', ann, cid)
  for (let round = 0; round < 3; round += 1) {
    const at = new Date().toISOString()
    await server.get(Spaces).change(space, { set: { requests: [{ user: bob.id, at }] } }, [])
    const roles = ['Viewer', 'Editor', 'Viewer', 'Editor', 'Admin']
    const answers = await Promise.all([
      ...roles.map((role, n) => (n % 2 ? ann : cid).post(`/api/spaces/${space}/acceptRequest?user=${bob.id}&role=${role}`)),
      ann.post(`/api/spaces/${space}/rejectRequest?user=${bob.id}`),
    ])
    t.deepEqual(answers.map(({ status }) => status).sort(), [200, 404, 404, 404, 404, 404])
    const winner = answers.findIndex(({ status }) => status === 200)
    t.is(await roleOf(bob, space), roles[winner])
    t.deepEqual((await server.get(Spaces).get(space))?.requests, [])
    await server.get(Users).setMembership(bob.id, space, undefined)
    await server.drained(30_000)
  }
})

test.serial('a request whose decision was interrupted can be decided', async t => {
  const [ann, bob] = (await people(2)) as [Somebody, Somebody]
  const space = await newSpace(ann)
  const set = (settling: Date) =>
    server
      .get(Spaces)
      .change(space, { set: { requests: [{ user: bob.id, at: '2026-01-01T00:00:00.000Z', settling: settling.toISOString() }] } }, [])
  await set(new Date())
  t.is((await ann.post(`/api/spaces/${space}/acceptRequest?user=${bob.id}`)).status, 404)
  await set(new Date(Date.now() - 60_000))
  t.deepEqual((await ann.post(`/api/spaces/${space}/acceptRequest?user=${bob.id}`)).body, ok)
  t.is(await roleOf(bob, space), 'Viewer')
})

test.serial('fifty concurrent changes to the memberships of one user leave at most one per space', async t => {
  const [ann, bob] = (await people(2)) as [Somebody, Somebody]
  const spaces = await Promise.all(Array.from({ length: 5 }, () => newSpace(ann)))
  await Promise.all(
    Array.from({ length: 50 }, (_, n) => {
      const path = `/api/spaces/${spaces[n % 5]}`
      if (n % 4 === 0) return ann.post(`${path}/invite`, { userIds: [bob.id], role: 'Editor' })
      if (n % 4 === 1) return ann.remove(`${path}/members/${bob.id}`)
      return ann.put(`${path}/members/${bob.id}`, { role: n % 2 ? 'Viewer' : 'Editor' })
    }),
  )
  const held = (await server.get(Users).get(bob.id))?.memberships.map(({ space }) => space) ?? []
  t.is(new Set(held).size, held.length)
  for (const space of spaces) {
    t.is((await ann.put(`/api/spaces/${space}/members/${bob.id}`, { role: 'Viewer' })).status, 200)
    t.is(await roleOf(bob, space), 'Viewer')
  }
})

test.serial('a membership created during the deletion of the space is removed', async t => {
  const [ann, bob, cid] = (await people(3)) as [Somebody, Somebody, Somebody]
  for (let round = 0; round < 4; round += 1) {
    const space = await newSpace(ann)
    await server.get(Spaces).change(space, { set: { requests: [{ user: cid.id, at: new Date().toISOString() }] } }, [])
    await Promise.all([
      ann.put(`/api/spaces/${space}/members/${bob.id}`, { role: 'Viewer' }),
      ann.post(`/api/spaces/${space}/acceptRequest?user=${cid.id}`),
      ann.remove(`/api/spaces/${space}`),
      ann.post(`/api/spaces/${space}/invite`, { userIds: [cid.id], emails: ['late@elsewhere.example'] }),
    ])
    await server.drained(30_000)
    for (const each of [ann, bob, cid]) t.is(await roleOf(each, space), undefined)
  }
})

test.serial('the feed shows requests and groups', async t => {
  const [ann, bob] = (await people(2)) as [Somebody, Somebody]
  const space = await newSpace(ann)
  const group = await idOf(admin.post('/api/groups', { name: 'in the feed' }))
  await admin.post(`/api/groups/${group}/members`, { users: [ann.id] })
  await ann.put(`/api/spaces/${space}/groups/${group}`, {})
  await ann.remove(`/api/spaces/${space}/groups/${group}`)
  await admin.put(`/api/spaces/${space}/verify`)
  await ann.post(`/api/spaces/${space}/update`, { name: 'fed', description: '', timetolive: '1', enabled: false, access: 'PUBLIC' })
  await bob.post(`/api/spaces/${space}/request`, {})
  await server.drained(30_000)
  const types = ((await ann.get('/api/events?limit=50')).body as { event_type: string }[]).map(line => line.event_type)
  for (const type of ['postrequest_space', 'add_group_to_space', 'remove_group_from_space']) t.true(types.includes(type), type)
})
