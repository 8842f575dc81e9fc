import test from 'ava'
import { Spaces, Users } from 'pounce/sdk'
import { advanceClock, bootForTest, liveTests, type TestServer } from 'pounce/sdk/testing'
import { callsOf, idOf } from '../../../test/support/calls.ts'
import { placesOn } from '../../../test/support/server-places.ts'
import { meet, newSpace, recordPlugins, type Somebody, somebody } from '../../../test/support/spaces-and-people.ts'

const { test: live, url } = liveTests(test, 'MONGODB', 'S3')

/** How soon a change on one kernel takes effect on another (promises, P15). */
const soonMs = 1000
const plugins = [...recordPlugins, 'resources.groups']
const endings: (() => Promise<void>)[] = []
let one: TestServer
let other: TestServer
let ann: Somebody
let bob: Somebody

/** Hooks run even when every test is skipped. */
const isLive = ['MONGODB', 'S3'].every(name => process.env[`POUNCE_TEST_${name}_URL`] !== undefined)
test.before(async () => {
  if (!isLive) return
  const { settings } = await placesOn({ teardown: end => void endings.push(end) }, url, ['documents.mongodb', 'blobs.s3'])
  const boot = () => bootForTest({ plugins, env: settings, config: { access: { private: true } } })
  one = await boot()
  other = await boot()
  ann = await somebody(one, 'ann')
  bob = await somebody(one, 'bob')
  await meet(one, ann, bob)
})
test.after.always(async () => {
  await one?.stop()
  await other?.stop()
  for (const end of endings) await end()
})

const admin = () => callsOf(one.as(one.admin.key))
/** The status of Bob's request on the other kernel, as late as a change may take effect. */
const soon = async (path: string): Promise<number> => {
  advanceClock(soonMs)
  return (await other.as(bob.key)(path)).status
}

live('roles granted to and revoked from a group on one kernel take effect on the other', async t => {
  const space = await newSpace(ann)
  const path = `/api/spaces/${space}`
  const group = await idOf(admin().post('/api/groups', { name: 'both kernels' }))
  await admin().post(`/api/groups/${group}/members`, { users: [ann.id, bob.id] })
  t.is((await other.as(bob.key)(path)).status, 404)
  await ann.put(`${path}/groups/${group}`, { role: 'Viewer' })
  t.is(await soon(path), 200)
  await ann.remove(`${path}/groups/${group}`)
  t.is(await soon(path), 404)
  await ann.put(`${path}/groups/${group}`, { role: 'Viewer' })
  t.is(await soon(path), 200)
  await admin().remove(`/api/groups/${group}/members/${bob.id}`)
  t.is(await soon(path), 404)
  await admin().post(`/api/groups/${group}/members`, { users: [bob.id] })
  t.is(await soon(path), 200)
  await admin().remove(`/api/groups/${group}`)
  t.is(await soon(path), 404)
})

live('changes of a role, and its replacement, take effect on the other kernel', async t => {
  const path = `/api/spaces/${await newSpace(ann)}`
  const role = await idOf(admin().post('/api/roles', { name: 'Looker', permissions: [] }))
  const blind = await idOf(admin().post('/api/roles', { name: 'Blind', permissions: [] }))
  await ann.put(`${path}/members/${bob.id}`, { role: 'Looker' })
  t.is((await other.as(bob.key)(path)).status, 404)
  await admin().put(`/api/roles/${role}`, { permissions: ['ViewSpace'] })
  t.is(await soon(path), 200)
  t.is((await admin().remove(`/api/roles/${role}?successor=${blind}`)).status, 200)
  t.is(await soon(path), 404)
})

live('of concurrent decisions about one request on two kernels, exactly one succeeds', async t => {
  const space = await newSpace(ann)
  const roleNames = ['Viewer', 'Editor']
  for (let round = 0; round < 3; round += 1) {
    await one.get(Spaces).change(space, { set: { requests: [{ user: bob.id, at: new Date().toISOString() }] } }, [])
    const statuses = await Promise.all(
      [one, other, one, other].map(async (server, n) => {
        const path = `/api/spaces/${space}/acceptRequest?user=${bob.id}&role=${roleNames[n % 2]}`
        return (await server.as(ann.key)(path, { method: 'POST' })).status
      }),
    )
    t.deepEqual(statuses.toSorted(), [200, 404, 404, 404])
    const held = (await one.get(Users).get(bob.id))?.memberships.filter(each => each.space === space) ?? []
    t.is(held.length, 1)
    await one.get(Users).setMembership(bob.id, space, undefined)
  }
})

live('two admins who leave concurrently on two kernels do not leave a space without an admin', async t => {
  for (let round = 0; round < 3; round += 1) {
    const space = await newSpace(ann)
    await ann.put(`/api/spaces/${space}/members/${bob.id}`, { role: 'Admin' })
    const leave = (server: TestServer, key: string) => server.as(key)(`/api/spaces/${space}/leave`, { method: 'POST' })
    const answers = await Promise.all([leave(one, ann.key), leave(other, bob.key)])
    for (const { status } of answers) t.true(status === 200 || status === 409, String(status))
    t.true((await one.get(Users).membersOf(space, { limit: 10 })).items.length > 0)
  }
})
