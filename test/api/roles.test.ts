import test from 'ava'
import { DocumentStore, Groups, Users } from 'pounce/sdk'
import { allPermissions, defaultRoles } from 'pounce/sdk/kit'
import { advanceClock, bootForTest } from 'pounce/sdk/testing'
import { roles as storedRoles } from '../../plugins/resources/users/collections.ts'
import { roleIds } from '../../plugins/resources/users/roles/stored-roles.ts'
import { blockRead } from '../support/blocked-read.ts'
import { callsOf, idOf } from '../support/calls.ts'
import { refusal } from '../support/people.ts'
import { letIn, newDataset, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'

const server = await bootForTest({ config: { access: { private: true } } })
test.after.always(() => server.stop())
const admin = callsOf(server.as(server.admin.key))
const nobody = callsOf(server.as())
const unknownId = 'f'.repeat(24)
const ok = { status: 'success' }

interface Role {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly permissions: readonly string[]
}
let made = 0
const newRole = (permissions: readonly string[]): Promise<string> => {
  made += 1
  return idOf(admin.post('/api/roles', { name: `Role ${made}`, permissions }))
}
const roleOf = async (id: string) => (await admin.get(`/api/roles/${id}`)).body as Role
const heldBy = async (person: Somebody, space: string) =>
  (await server.get(Users).get(person.id))?.memberships.find(held => held.space === space)?.role

test.serial('a new installation has three roles, always with the same ids', async t => {
  for (const [name, id] of Object.entries(roleIds)) {
    const { permissions, ...role } = await roleOf(id)
    t.like(role, { id, name })
    t.deepEqual([...permissions].sort(), [...defaultRoles[name as keyof typeof roleIds]].sort())
  }
})

test.serial('a role is created, changed and deleted by a server admin', async t => {
  const ann = await somebody(server)
  const id = await idOf(
    admin.post('/api/roles', { name: ' Curator ', description: 'keeps order', permissions: ['EditDataset', 'ViewDataset', 'EditDataset'] }),
  )
  t.deepEqual((await ann.get(`/api/roles/${id}`)).body, {
    ...{ id, name: 'Curator', description: 'keeps order' },
    permissions: ['ViewDataset', 'EditDataset'],
  })
  t.true(((await ann.get('/api/roles')).body as Role[]).some(role => role.id === id))
  t.deepEqual((await admin.put(`/api/roles/${id}`, { name: 'Keeper', permissions: ['ViewSpace'] })).body, ok)
  t.deepEqual(await roleOf(id), { id, name: 'Keeper', description: 'keeps order', permissions: ['ViewSpace'] })
  t.deepEqual((await admin.remove(`/api/roles/${id}`)).body, ok)
  for (const call of [admin.get(`/api/roles/${id}`), admin.put(`/api/roles/${id}`, {}), admin.remove(`/api/roles/${id}`)])
    t.is((await call).status, 404)
})

test.serial('only server admins manage roles', async t => {
  const ann = await somebody(server)
  const id = await newRole([])
  for (const person of [ann, nobody]) {
    const status = person === ann ? 403 : 401
    t.is((await person.post('/api/roles', { name: 'mine', permissions: [] })).status, status)
    t.is((await person.put(`/api/roles/${id}`, { permissions: ['EditSpace'] })).status, status)
    t.is((await person.remove(`/api/roles/${id}`)).status, status)
  }
  t.is((await nobody.get(`/api/roles/${id}`)).status, 401)
  t.deepEqual((await roleOf(id)).permissions, [])
})

test.serial('an unknown permission is refused with the most similar one', async t => {
  const wrong = await admin.post('/api/roles', { name: 'wrong', permissions: ['ViewDataset', 'EditDatset'] })
  t.is(wrong.status, 400)
  t.is((wrong.body as { message: string }).message, 'Unknown permission EditDatset; did you mean EditDataset?')
  const id = await newRole([])
  for (const json of [
    { permissions: ['*'] },
    { permissions: ['__proto__'] },
    { permissions: 'ViewSpace' },
    { name: ' ' },
    { name: 'a\nb' },
    { name: '' },
  ])
    t.is((await admin.put(`/api/roles/${id}`, json)).status, 400, JSON.stringify(json))
  for (const json of [{}, { name: 'x' }, { permissions: [] }])
    t.is((await admin.post('/api/roles', json)).status, 400, JSON.stringify(json))
  t.is((await admin.post('/api/roles', { name: 'Viewer', permissions: [] })).status, 409)
  t.is((await admin.put(`/api/roles/${id}`, { name: 'Editor' })).status, 409)
})

test.serial('malformed and unknown ids get the same response', async t => {
  const ann = await somebody(server)
  const answers = await Promise.all(['nonsense', unknownId].map(async one => refusal(await ann.call(`/api/roles/${one}`))))
  t.deepEqual(answers[0], answers[1])
  for (const one of ['nonsense', unknownId]) {
    t.is((await admin.put(`/api/roles/${one}`, { name: 'x' })).status, 404)
    t.is((await admin.remove(`/api/roles/${one}`)).status, 404)
  }
})

test.serial('initial roles cannot be deleted or renamed, and Admin must be able to manage spaces', async t => {
  for (const id of Object.values(roleIds)) {
    t.is((await admin.remove(`/api/roles/${id}?successor=${roleIds.Viewer}`)).status, 400)
    t.is((await admin.put(`/api/roles/${id}`, { name: 'Other' })).status, 400)
  }
  for (const permissions of [[], ['EditSpace'], ['ViewSpace'], defaultRoles.Editor])
    t.is((await admin.put(`/api/roles/${roleIds.Admin}`, { permissions })).status, 400)
  t.deepEqual((await admin.put(`/api/roles/${roleIds.Admin}`, { name: 'Admin', description: 'rules' })).body, ok)
  t.is((await roleOf(roleIds.Admin)).permissions.length, allPermissions.size)
})

test.serial('a role without permissions grants no rights, and changes take effect at once', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const space = await newSpace(ann)
  const dataset = await newDataset(ann, { space: [space] })
  const id = await newRole([])
  await letIn(ann, space, (await roleOf(id)).name, bob)
  for (const path of [`/api/spaces/${space}`, `/api/datasets/${dataset}`]) t.is((await bob.get(path)).status, 404)
  t.deepEqual((await bob.get('/api/datasets')).body, [])
  await admin.put(`/api/roles/${id}`, { permissions: ['ViewDataset'] })
  t.is((await bob.get(`/api/datasets/${dataset}`)).status, 200)
  t.is((await bob.get(`/api/spaces/${space}`)).status, 404)
  t.is((await bob.put(`/api/datasets/${dataset}/title`, { name: 'no' })).status, 403)
  await admin.put(`/api/roles/${id}`, { permissions: [] })
  t.is((await bob.get(`/api/datasets/${dataset}`)).status, 404)
})

test.serial('a change of a role takes effect at once, even if the roles were being read', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const [space, id] = [await newSpace(ann), await newRole(['ViewSpace'])]
  await letIn(ann, space, (await roleOf(id)).name, bob)
  advanceClock(1000)
  const held = blockRead(server.get(DocumentStore), 'scan', storedRoles.name)
  const before = bob.get(`/api/spaces/${space}`)
  await held.begun
  await admin.put(`/api/roles/${id}`, { permissions: [] })
  held.release()
  await before
  t.is((await bob.get(`/api/spaces/${space}`)).status, 404)
})

test.serial('a change of a role by another kernel takes effect within a second', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const [space, id] = [await newSpace(ann), await newRole(['ViewSpace'])]
  await letIn(ann, space, (await roleOf(id)).name, bob)
  t.is((await bob.get(`/api/spaces/${space}`)).status, 200)
  await server.get(DocumentStore).commit({ update: id, in: storedRoles, set: { permissions: [] } })
  advanceClock(1000)
  t.is((await bob.get(`/api/spaces/${space}`)).status, 404)
})

test.serial('a role in use can be deleted only with a successor', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const [space, other] = [await newSpace(ann), await newSpace(ann)]
  const [gone, next] = [await newRole(['ViewSpace']), await newRole(['ViewSpace', 'ViewDataset'])]
  const name = (await roleOf(gone)).name
  await letIn(ann, space, name, bob)
  const group = await idOf(admin.post('/api/groups', { name: 'holders of a role' }))
  await admin.put(`/api/spaces/${other}/groups/${group}?superAdmin=true`, { role: name })
  await admin.post(`/api/groups/${group}/members`, { users: [bob.id] })
  t.is((await admin.remove(`/api/roles/${gone}`)).status, 409)
  for (const successor of [gone, unknownId, 'nonsense']) t.is((await admin.remove(`/api/roles/${gone}?successor=${successor}`)).status, 400)
  t.deepEqual((await admin.remove(`/api/roles/${gone}?successor=${next}`)).body, ok)
  for (const id of [space, other]) t.is((await bob.get(`/api/spaces/${id}`)).status, 200)
  t.is((await admin.remove(`/api/roles/${gone}?successor=${next}`)).status, 404)
  t.is((await ann.post(`/api/spaces/${space}/updateUsers`, { rolesandusers: { [name]: bob.id } })).status, 400)
  await server.drained(30_000)
  t.is(await heldBy(bob, space), next)
  t.is((await server.get(Groups).get(group))?.memberships[0]?.role, next)
  t.is(await idOf(admin.post('/api/roles', { name, permissions: [] })).then(id => id.length), 24)
  t.is((await admin.remove(`/api/roles/${next}?successor=${roleIds.Viewer}`)).status, 200)
  t.is((await bob.get(`/api/spaces/${space}`)).status, 200)
})

test.serial('a role held only by a group is in use', async t => {
  const ann = await somebody(server)
  const [space, id] = [await newSpace(ann), await newRole(['ViewSpace'])]
  const group = await idOf(admin.post('/api/groups', { name: 'only holders' }))
  await admin.put(`/api/spaces/${space}/groups/${group}?superAdmin=true`, { role: id })
  t.is((await admin.remove(`/api/roles/${id}`)).status, 409)
  await ann.remove(`/api/spaces/${space}/groups/${group}`)
  t.is((await admin.remove(`/api/roles/${id}`)).status, 200)
})

test.serial('if two roles are each other’s successors, their holders get the permissions of Viewer', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const space = await newSpace(ann)
  const [one, other] = [await newRole(['ViewSpace', 'EditDataset']), await newRole(['ViewSpace', 'DeleteDataset'])]
  await letIn(ann, space, (await roleOf(one)).name, bob)
  const documents = server.get(DocumentStore)
  await documents.commit({ update: one, in: storedRoles, set: { successor: other } })
  await documents.commit({ update: other, in: storedRoles, set: { successor: one } })
  const permissions = async () => (await server.get(Users).membershipsOf({ memberships: [{ space, role: one }] }))[0]?.permissions
  await until('the changed roles to be loaded', async () => !(await permissions())?.has('EditDataset'))
  t.deepEqual([...((await permissions()) ?? [])].sort(), [...defaultRoles.Viewer].sort())
})

test.serial('a member assigned a role during its deletion has its successor or none', async t => {
  const ann = await somebody(server)
  const people = [await somebody(server), await somebody(server), await somebody(server)]
  const space = await newSpace(ann)
  for (const successor of [roleIds.Viewer, undefined]) {
    const id = await newRole(['EditDataset'])
    const query = successor === undefined ? '' : `?successor=${successor}`
    await Promise.all([
      ...people.map(({ id: user }) =>
        server
          .get(Users)
          .setMembership(user, space, id)
          .catch(() => undefined),
      ),
      admin.remove(`/api/roles/${id}${query}`),
    ])
    await server.drained(30_000)
    const isGone = (await admin.get(`/api/roles/${id}`)).status === 404
    const held = await Promise.all(people.map(person => heldBy(person, space)))
    for (const role of held)
      t.true(
        isGone ? role === successor || role === undefined || role === roleIds.Viewer : role === id || role === roleIds.Viewer,
        String(role),
      )
    for (const { id: user } of people) await server.get(Users).setMembership(user, space, undefined)
  }
})
