import test from 'ava'
import { DocumentStore, Groups, Users } from 'pounce/sdk'
import { advanceClock, bootForTest, type TestServer } from 'pounce/sdk/testing'
import { groups } from '../../plugins/resources/groups/collection.ts'
import { allIds, callsOf, idOf, idsOf } from '../support/calls.ts'
import { refusal } from '../support/people.ts'
import { letIn, newDataset, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'

const server: TestServer = await bootForTest({ config: { access: { private: true } } })
test.after.always(() => server.stop())
const admin = callsOf(server.as(server.admin.key))
const nobody = callsOf(server.as())
const unknownId = 'f'.repeat(24)
const ok = { status: 'success' }

let made = 0
const newGroup = (more: object = {}): Promise<string> => {
  made += 1
  return idOf(admin.post('/api/groups', { name: `group ${made}`, description: 'some people', ...more }))
}
const fill = async (group: string, ...people: readonly Somebody[]): Promise<void> => {
  const { status, body } = await admin.post(`/api/groups/${group}/members`, { users: people.map(({ id }) => id) })
  if (status !== 200) throw new Error(JSON.stringify(body))
}
const groupsOf = async (person: Somebody) => (await server.get(Users).get(person.id))?.groups ?? []

test.serial('a server admin creates, changes and deletes groups; others only see them', async t => {
  const ann = await somebody(server)
  const id = await newGroup({ name: 'Lake people' })
  const { body } = await ann.get(`/api/groups/${id}`)
  const { created, ...rest } = body as Record<string, unknown>
  t.deepEqual(rest, { id, name: 'Lake people', description: 'some people', source: 'local' })
  t.regex(String(created), /UTC \d{4}$/)
  t.like((await admin.get(`/api/groups/${id}`)).body as object, { external: null, spaces: 0 })
  t.deepEqual((await admin.put(`/api/groups/${id}`, { name: 'Pond people' })).body, ok)
  t.like((await ann.get(`/api/groups/${id}`)).body as object, { name: 'Pond people', description: 'some people' })
  t.true((await allIds(ann.get, '/api/groups?limit=1')).includes(id))
  t.deepEqual((await admin.remove(`/api/groups/${id}`)).body, ok)
  t.is((await admin.remove(`/api/groups/${id}`)).status, 404)
  t.false((await idsOf(ann.get('/api/groups'))).includes(id))
})

test.serial('only server admins manage groups', async t => {
  const ann = await somebody(server)
  const id = await newGroup()
  const calls: readonly (readonly [keyof Somebody & ('post' | 'put' | 'remove' | 'get'), string, unknown?])[] = [
    ['post', '/api/groups', { name: 'mine' }],
    ['put', `/api/groups/${id}`, { name: 'mine' }],
    ['remove', `/api/groups/${id}`],
    ['post', `/api/groups/${id}/members`, { users: [ann.id] }],
    ['remove', `/api/groups/${id}/members/${ann.id}`],
    ['get', `/api/groups/${id}/members`],
    ['get', `/api/groups/${id}/spaces`],
  ]
  for (const [method, path, json] of calls) {
    t.is((await ann[method](path, json)).status, 403, `${method} ${path}`)
    t.is((await nobody[method](path, json)).status, 401, `${method} ${path}`)
  }
  for (const path of ['/api/groups', `/api/groups/${id}`]) t.is((await nobody.get(path)).status, 401)
  t.deepEqual(await groupsOf(ann), [])
})

test.serial('invalid groups are refused with 400, names and external groups already in use with 409', async t => {
  const id = await newGroup({ name: 'taken' })
  await newGroup({ name: 'of ldap', source: 'ldap', external: 'cn=staff' })
  const wrong = [
    {},
    { name: ' ' },
    { name: 'a\nb' },
    { name: 'x'.repeat(201) },
    { name: 7 },
    { name: 'odd', source: 'ldap' },
    { name: 'odd', external: 'cn=staff' },
    { name: 'odd', source: 'LDAP!', external: 'x' },
  ]
  for (const json of wrong) t.is((await admin.post('/api/groups', json)).status, 400, JSON.stringify(json))
  t.is((await admin.post('/api/groups', { name: 'taken' })).status, 409)
  t.is((await admin.post('/api/groups', { name: 'again', source: 'ldap', external: 'cn=staff' })).status, 409)
  const other = await newGroup()
  t.is((await admin.put(`/api/groups/${other}`, { name: 'taken' })).status, 409)
  t.is((await admin.put(`/api/groups/${id}`, { name: 'taken' })).status, 200)
  t.is((await admin.get('/api/groups?limit=0')).status, 400)
  t.is((await admin.get('/api/groups?after=nonsense')).status, 400)
  t.is((await admin.get(`/api/groups/${id}/members?after=nonsense`)).status, 400)
})

test.serial('malformed and unknown ids get the same response', async t => {
  const ann = await somebody(server)
  const id = await newGroup()
  const answers = await Promise.all(['nonsense', unknownId].map(async one => refusal(await ann.call(`/api/groups/${one}`))))
  t.deepEqual(answers[0], answers[1])
  t.is(answers[0]?.['httpStatus'], 404)
  for (const one of ['nonsense', unknownId]) {
    t.is((await admin.put(`/api/groups/${one}`, { name: 'x' })).status, 404)
    t.is((await admin.get(`/api/groups/${one}/members`)).status, 404)
    t.is((await admin.get(`/api/groups/${one}/spaces`)).status, 404)
    t.is((await admin.post(`/api/groups/${one}/members`, { users: [ann.id] })).status, 404)
    t.is((await admin.remove(`/api/groups/${one}/members/${ann.id}`)).status, 404)
    t.is((await admin.remove(`/api/groups/${id}/members/${one}`)).status, 404)
  }
  t.is((await admin.post(`/api/groups/${id}/members`, { users: [ann.id, unknownId] })).status, 404)
  t.is((await admin.post(`/api/groups/${id}/members`, { users: [] })).status, 400)
  t.deepEqual(await groupsOf(ann), [])
})

test.serial('members of a group are added and removed, and see each other', async t => {
  const [ann, bob, cid] = [await somebody(server), await somebody(server), await somebody(server)]
  const id = await newGroup()
  await fill(id, ann, bob)
  await fill(id, ann)
  const seen = (await ann.get(`/api/groups/${id}/members`)).body as readonly { id: string; email?: string }[]
  t.deepEqual(seen.map(({ id }) => id).sort(), [ann.id, bob.id].sort())
  t.deepEqual(
    seen.map(({ email }) => email !== undefined),
    seen.map(({ id }) => id === ann.id),
  )
  t.is((await cid.get(`/api/groups/${id}/members`)).status, 403)
  t.deepEqual([...(await allIds(admin.get, `/api/groups/${id}/members?limit=1`))].sort(), [ann.id, bob.id].sort())
  t.deepEqual((await admin.remove(`/api/groups/${id}/members/${bob.id}`)).body, ok)
  t.deepEqual((await admin.remove(`/api/groups/${id}/members/${bob.id}`)).body, ok)
  t.deepEqual(await groupsOf(bob), [])
  t.is((await bob.get(`/api/groups/${id}/members`)).status, 403)
})

test.serial('members have the role of their group, in addition to their own, until it is removed', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const space = await newSpace(ann)
  const dataset = await newDataset(ann, { space: [space] })
  const id = await newGroup()
  await fill(id, ann, bob)
  t.is((await bob.get(`/api/datasets/${dataset}`)).status, 404)
  t.deepEqual((await ann.put(`/api/spaces/${space}/groups/${id}`, { role: 'Editor' })).body, ok)
  t.is((await bob.get(`/api/datasets/${dataset}`)).status, 200)
  t.true((await allIds(bob.get, '/api/spaces')).includes(space))
  t.true((await allIds(bob.get, '/api/datasets/canEdit')).includes(dataset))
  t.is((await bob.put(`/api/datasets/${dataset}/title`, { name: 'of bob' })).status, 200)
  await ann.post(`/api/spaces/${space}/updateUsers`, { rolesandusers: { Viewer: bob.id } })
  t.is((await bob.put(`/api/datasets/${dataset}/title`, { name: 'still' })).status, 200)
  t.deepEqual(
    (await allIds(bob.get, '/api/spaces')).filter(one => one === space),
    [space],
  )
  t.deepEqual((await ann.put(`/api/spaces/${space}/groups/${id}`, {})).body, ok)
  t.is((await bob.put(`/api/datasets/${dataset}/title`, { name: 'no' })).status, 403)
  await ann.post(`/api/spaces/${space}/updateUsers`, { rolesandusers: { Viewer: '' } })
  t.is((await bob.get(`/api/datasets/${dataset}`)).status, 200)
  t.deepEqual((await admin.get(`/api/groups/${id}/spaces`)).body, [
    { space, role: { id: (await server.get(Users).roles()).find(({ name }) => name === 'Viewer')?.id, name: 'Viewer' } },
  ])
  t.deepEqual((await ann.remove(`/api/spaces/${space}/groups/${id}`)).body, ok)
  t.is((await bob.get(`/api/datasets/${dataset}`)).status, 404)
  t.is((await ann.remove(`/api/spaces/${space}/groups/${id}`)).status, 400)
})

test.serial('only users who can edit a space assign roles to groups', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const [space, id] = [await newSpace(ann), await newGroup()]
  const path = `/api/spaces/${space}/groups/${id}`
  t.is((await bob.put(path, { role: 'Viewer' })).status, 404)
  t.is((await nobody.put(path, { role: 'Viewer' })).status, 401)
  await fill(id, ann, bob)
  await ann.put(path, { role: 'Editor' })
  t.is((await bob.put(path, { role: 'Admin' })).status, 403)
  t.is((await bob.remove(path)).status, 403)
  t.is((await ann.put(path, { role: 'King' })).status, 400)
  for (const one of ['nonsense', unknownId]) {
    t.is((await ann.put(`/api/spaces/${space}/groups/${one}`, {})).status, 404)
    t.is((await ann.remove(`/api/spaces/${space}/groups/${one}`)).status, 404)
    t.is((await ann.put(`/api/spaces/${one}/groups/${id}`, {})).status, 404)
    t.is((await ann.remove(`/api/spaces/${one}/groups/${id}`)).status, 404)
  }
  t.is((await server.get(Groups).get(id))?.memberships.length, 1)
})

test.serial('on a private server adding a group to a space does not reveal its members to strangers', async t => {
  const [ann, bob, cid] = [await somebody(server), await somebody(server), await somebody(server)]
  const [space, id] = [await newSpace(ann), await newGroup()]
  await fill(id, bob)
  const path = `/api/spaces/${space}/groups/${id}`
  const { status, body } = await ann.put(path, { role: 'Viewer' })
  t.is(status, 403)
  t.regex((body as { message: string }).message, /one of its members or a server admin/)
  t.is((await ann.get(`/api/users/${bob.id}`)).status, 404)
  t.deepEqual((await server.get(Groups).get(id))?.memberships, [])
  await letIn(ann, space, 'Admin', bob)
  t.is((await bob.put(path, { role: 'Viewer' })).status, 200)
  // The group is in the space now: its role may be set by users who can edit the space.
  t.is((await ann.put(path, { role: 'Editor' })).status, 200)
  const other = await newSpace(cid)
  t.is((await admin.put(`/api/spaces/${other}/groups/${id}?superAdmin=true`, {})).status, 200)
})

test.serial('deleting a group or a space revokes the access it granted', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const [space, other] = [await newSpace(ann), await newSpace(ann)]
  const [gone, stays] = [await newGroup(), await newGroup()]
  await fill(gone, ann, bob)
  await fill(stays, ann, bob)
  for (const group of [gone, stays]) await ann.put(`/api/spaces/${space}/groups/${group}`, { role: 'Viewer' })
  await ann.put(`/api/spaces/${other}/groups/${gone}`, { role: 'Viewer' })
  t.is((await bob.get(`/api/spaces/${other}`)).status, 200)
  await admin.remove(`/api/groups/${gone}`)
  t.is((await bob.get(`/api/spaces/${other}`)).status, 404)
  t.is((await bob.get(`/api/spaces/${space}`)).status, 200)
  await ann.remove(`/api/spaces/${space}`)
  await server.drained(30_000)
  t.deepEqual(await groupsOf(bob), [stays])
  t.deepEqual((await server.get(Groups).get(stays))?.memberships, [])
})

test.serial('a sign-in provider assigns its own groups to users, and no others', async t => {
  const ann = await somebody(server)
  const [staff, guests] = [
    await newGroup({ source: 'campus', external: 'Staff' }),
    await newGroup({ source: 'campus', external: 'Guests' }),
  ]
  const [elsewhere, local] = [await newGroup({ source: 'other', external: 'Staff' }), await newGroup()]
  const stored = server.get(Groups)
  await fill(local, ann)
  await stored.assignExternal(ann.id, 'other', ['Staff'])
  await stored.assignExternal(ann.id, 'campus', ['Staff', 'Staff', 'Unknown', 'guests'])
  t.deepEqual([...(await groupsOf(ann))].sort(), [staff, elsewhere, local].sort())
  const before = (await server.get(Users).get(ann.id))?.revision
  await stored.assignExternal(ann.id, 'campus', ['Staff'])
  t.is((await server.get(Users).get(ann.id))?.revision, before)
  await stored.assignExternal(ann.id, 'campus', ['Guests'])
  t.deepEqual([...(await groupsOf(ann))].sort(), [guests, elsewhere, local].sort())
  await stored.assignExternal(ann.id, 'campus', [])
  t.deepEqual([...(await groupsOf(ann))].sort(), [elsewhere, local].sort())
  t.is((await admin.post(`/api/groups/${staff}/members`, { users: [ann.id] })).status, 400)
  t.is((await admin.remove(`/api/groups/${elsewhere}/members/${ann.id}`)).status, 400)
  await t.throwsAsync(stored.assignExternal(unknownId, 'campus', []))
})

test.serial('deleting a group while members and roles are being added leaves nothing behind', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const space = await newSpace(ann)
  for (let round = 0; round < 5; round += 1) {
    const id = await newGroup()
    await fill(id, ann)
    const statuses = await Promise.all([
      ...['Viewer', 'Editor', 'Admin'].map(role => ann.put(`/api/spaces/${space}/groups/${id}`, { role })),
      admin.post(`/api/groups/${id}/members`, { users: [bob.id] }),
      admin.remove(`/api/groups/${id}`),
      admin.post(`/api/groups/${id}/members`, { users: [bob.id] }),
    ])
    for (const { status } of statuses) t.true(status === 200 || status === 404, String(status))
    await server.drained(30_000)
    t.deepEqual(await groupsOf(bob), [])
    t.is((await bob.get(`/api/spaces/${space}`)).status, 404)
  }
})

test.serial('of fifty concurrent changes to groups and memberships of one user none is lost', async t => {
  const ann = await somebody(server)
  const ids: string[] = []
  for (let n = 0; n < 25; n += 1) ids.push(await newGroup())
  const [users, role] = [server.get(Users), (await server.get(Users).roles())[0]?.id ?? '']
  await Promise.all(ids.flatMap((id, at) => [fill(id, ann), users.setMembership(ann.id, at.toString(16).padStart(24, '0'), role)]))
  t.deepEqual([...(await groupsOf(ann))].sort(), [...ids].sort())
  t.is((await users.get(ann.id))?.memberships.length, 25)
})

test.serial('changes of a group by another kernel take effect within a second', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const [space, id] = [await newSpace(ann), await newGroup()]
  await fill(id, ann, bob)
  await ann.put(`/api/spaces/${space}/groups/${id}`, {})
  t.is((await bob.get(`/api/spaces/${space}`)).status, 200)
  await server.get(DocumentStore).commit({ update: id, in: groups, set: { memberships: [] } })
  advanceClock(1000)
  t.is((await bob.get(`/api/spaces/${space}`)).status, 404)
})
