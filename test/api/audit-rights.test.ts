import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { callsOf, idOf } from '../support/calls.ts'
import { byCookie, newPerson, signIn } from '../support/people.ts'
import { ok } from '../support/scene.ts'
import { newSpace, somebody } from '../support/spaces-and-people.ts'

interface Line {
  readonly type: string
  readonly actor: { readonly id: string } | null
  readonly user: { readonly id: string } | null
  readonly subject: { readonly kind: string; readonly id: string } | null
  readonly about: Readonly<Record<string, unknown>>
}

const server = await bootForTest({ config: { access: { private: true } } })
const admin = callsOf(server.as(server.admin.key))
test.after.always(() => server.stop())

const log = async (query: string): Promise<readonly Line[]> => {
  await server.drained()
  return ok<Line[]>(server.as(server.admin.key)(`/api/admin/audit?limit=500&${query}`))
}
/** The operations on one resource, oldest first. */
const done = async (type: string, id: string) => (await log(`type=${type}`)).filter(({ subject }) => subject?.id === id).toReversed()

test.serial('changes of roles are logged with the permissions granted and revoked, and by whom', async t => {
  const role = await idOf(admin.post('/api/roles', { name: 'Curator', permissions: ['ViewDataset', 'EditDataset'] }))
  await admin.put(`/api/roles/${role}`, { permissions: ['ViewDataset', 'DeleteDataset'] })
  await admin.remove(`/api/roles/${role}`)
  const [made, changed, removed] = [await done('role.created', role), await done('role.updated', role), await done('role.removed', role)]
  t.is(made[0]?.actor?.id, server.admin.id)
  t.like(changed[0]?.about, { fields: ['permissions'], given: ['DeleteDataset'], taken: ['EditDataset'] })
  t.is(removed[0]?.about['name'], 'Curator')
})

test.serial('changes of the members and roles of groups are logged', async t => {
  const [ann, bob] = [await somebody(server, 'ann'), await somebody(server, 'bob')]
  const space = await newSpace(ann, 'Pond')
  const group = await idOf(admin.post('/api/groups', { name: 'Pond people', description: '' }))
  await admin.post(`/api/groups/${group}/members`, { users: [bob.id, ann.id] })
  await ann.put(`/api/spaces/${space}/groups/${group}`, { role: 'Viewer' })
  await ann.remove(`/api/spaces/${space}/groups/${group}`)
  await admin.remove(`/api/groups/${group}`)
  t.deepEqual((await done('group.member-changed', group)).map(({ user, about, actor }) => [user?.id, about['change'], actor?.id])[0], [
    bob.id,
    'added',
    server.admin.id,
  ])
  t.deepEqual(
    (await done('space.group-changed', space)).map(({ about, actor }) => [about['group'], about['change'], 'role' in about, actor?.id]),
    [
      [group, 'added', true, ann.id],
      [group, 'removed', false, ann.id],
    ],
  )
  t.is((await done('group.removed', group))[0]?.about['name'], 'Pond people')
})

test.serial('ended sessions, changed passwords and the keys revoked with them are logged', async t => {
  const cid = await newPerson(server, 'cid')
  const [first, second] = [await signIn(server, cid.email, cid.password), await signIn(server, cid.email, cid.password)]
  const here = byCookie(server, first)
  const others = (await ok<{ id: string; current?: boolean }[]>(here('/api/sessions'))).map(({ id }) => id)
  t.is(others.length, 2)
  for (const id of others) await here(`/api/sessions/${id}`, { method: 'DELETE' })
  t.is((await byCookie(server, second)('/api/me')).status, 401)
  const json = { password: cid.password, newPassword: 'another secret of cid', revokeKeys: true }
  t.is((await cid.call('/api/password', { method: 'POST', json })).status, 200)
  const types = (await log(`user=${cid.id}`)).map(({ type }) => type)
  t.is(types.filter(type => type === 'session.ended').length >= 1, true)
  t.deepEqual(types.slice(0, 2).toSorted(), ['key.revoked', 'user.password-changed'])
  t.false(JSON.stringify(await log(`user=${cid.id}`)).includes('another secret'))
})

test.serial('changes and acceptances of the terms are logged', async t => {
  const dan = await somebody(server, 'dan')
  await admin.post('/api/admin/configuration', { tosText: 'Be kind to each other, always.' })
  t.is((await dan.get('/api/sessions')).status, 403)
  t.is((await dan.post('/api/users/acceptTerms')).status, 200)
  t.deepEqual(
    (await log(`user=${dan.id}&type=user.terms-accepted`)).map(({ actor }) => actor?.id),
    [dan.id],
  )
  const [changed] = await log('type=site.updated')
  t.deepEqual(changed?.about, { fields: ['tosText'] })
  t.is(changed?.actor?.id, server.admin.id)
  await admin.post('/api/admin/configuration', { tosText: '' })
})
