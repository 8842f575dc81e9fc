import test from 'ava'
import { Callers, CommitConflict, DocumentStore, eq, Invalid, NotFound, Taken, Users } from 'pounce/sdk'
import { advanceClock, bootForTest } from 'pounce/sdk/testing'
import { roles as storedRoles } from '../collections.ts'
import { roleIds } from '../roles/stored-roles.ts'

const plugins = ['documents.sqlite', 'access.policy', 'auth.local', 'resources.users']
const server = await bootForTest({ plugins })
test.after.always(() => server.stop())
const users = server.get(Users)
let made = 0
const newUser = () => {
  made += 1
  return users.create({ email: `user${made}@example.org`, firstName: 'A', lastName: 'B', status: 'Active' })
}
const spaceId = (at: number) => at.toString(16).padStart(24, 'a')

test('a role in a space is granted, changed and revoked', async t => {
  const { id } = await newUser()
  const memberships = async () => (await users.get(id))?.memberships
  await users.setMembership(id, spaceId(1), roleIds.Viewer)
  await users.setMembership(id, spaceId(2), roleIds.Editor)
  await users.setMembership(id, spaceId(1), roleIds.Admin)
  t.deepEqual(await memberships(), [
    { space: spaceId(2), role: roleIds.Editor },
    { space: spaceId(1), role: roleIds.Admin },
  ])
  await users.setMembership(id, spaceId(2), undefined)
  await users.setMembership(id, spaceId(2), undefined)
  t.deepEqual(await memberships(), [{ space: spaceId(1), role: roleIds.Admin }])
  await t.throwsAsync(users.setMembership(id, spaceId(1), 'f'.repeat(24)), { instanceOf: Invalid })
  await t.throwsAsync(users.setMembership('f'.repeat(24), spaceId(1), roleIds.Viewer), { instanceOf: NotFound })
})

test('fifty concurrent changes of memberships are all applied, each once', async t => {
  const { id } = await newUser()
  await Promise.all(
    Array.from({ length: 50 }, (_, at) => users.setMembership(id, spaceId(100 + (at % 25)), at % 2 ? roleIds.Viewer : roleIds.Editor)),
  )
  const held = (await users.get(id))?.memberships.map(({ space }) => space) ?? []
  t.is(held.length, 25)
  t.is(new Set(held).size, 25)
})

test('members of a space are listed in pages, each once', async t => {
  const ids: string[] = []
  for (let at = 0; at < 7; at += 1) {
    const { id } = await newUser()
    await users.setMembership(id, spaceId(300), roleIds.Viewer)
    ids.push(id)
  }
  const first = await users.membersOf(spaceId(300), { limit: 4 })
  const second = await users.membersOf(spaceId(300), { limit: 4, ...(first.next ? { after: first.next } : {}) })
  t.deepEqual(
    [...first.items, ...second.items].map(({ id }) => id),
    ids,
  )
  t.deepEqual((await users.membersOf(spaceId(301), { limit: 4 })).items, [])
})

test('email addresses are compared regardless of case and Unicode normalization', async t => {
  const { id } = await users.create({ email: ' Jos\u0065\u0301@Example.org ', firstName: 'J', lastName: 'E', status: 'Active' })
  t.is((await users.byEmail('JOS\u00c9@example.ORG'))?.id, id)
  await t.throwsAsync(users.create({ email: 'jos\u00e9@example.org', firstName: 'X', lastName: 'Y', status: 'Active' }), {
    instanceOf: Taken,
  })
  const other = await newUser()
  await t.throwsAsync(users.change(other.id, { set: { email: 'JOS\u00c9@example.org' } }, []), { instanceOf: Taken })
  t.is((await users.change(other.id, { set: { email: 'Moved@Example.org' } }, [])).email, 'moved@example.org')
})

test('changing a missing account and a conflicting change are distinguished', async t => {
  const { id } = await newUser()
  await t.throwsAsync(users.change('f'.repeat(24), { set: { firstName: 'x' } }, []), { instanceOf: NotFound })
  await t.throwsAsync(users.change(id, { set: { firstName: 'x' }, where: eq('firstName', 'other') }, []), { instanceOf: CommitConflict })
  t.is((await users.get(id))?.firstName, 'A')
})

test('a new permission is granted to Admin once, and a revoked one stays revoked', async t => {
  const own = await bootForTest({ t, plugins })
  const documents = own.get(DocumentStore)
  await documents.commit({ update: roleIds.Admin, in: storedRoles, pull: { permissions: ['EditSpace', 'EditUser'], given: ['EditSpace'] } })
  await own.restart()
  const admin = (await own.get(Users).roles()).find(({ id }) => id === roleIds.Admin)
  t.true(admin?.permissions.includes('EditSpace'))
  t.false(admin?.permissions.includes('EditUser'))
  t.is((await own.get(Users).roles()).length, 3)
})

test.serial('a change of a role takes effect for its members within a second', async t => {
  const own = await bootForTest({ t, plugins })
  const { id, key } = own.admin
  await own.get(Users).setMembership(id, spaceId(1), roleIds.Viewer)
  const callers = own.get(Callers)
  const permissions = async () =>
    (await callers.identify({ headerKey: key, wantsSuperAdmin: false, address: 'test' })).user?.memberships[0]?.permissions
  t.false((await permissions())?.has('EditSpace'))
  await own
    .get(DocumentStore)
    .commit({ update: roleIds.Viewer, in: storedRoles, addToSet: { permissions: ['EditSpace', 'NoSuchPermission'] } })
  advanceClock(1000)
  t.true((await permissions())?.has('EditSpace'))
  t.false([...((await permissions()) ?? [])].includes('NoSuchPermission' as 'EditSpace'))
})
