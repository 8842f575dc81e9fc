import test, { type ExecutionContext } from 'ava'
import { Datasets, Mailer, Spaces, Users } from 'pounce/sdk'
import { bootForTest, MemoryMailer, type TestServer } from 'pounce/sdk/testing'
import { allIds, callsOf, idOf, idsOf } from '../support/calls.ts'
import { letIn, newCollection, newDataset, newSpace, publish, type Somebody, somebody } from '../support/spaces-and-people.ts'

const boot = (t: ExecutionContext, config: Record<string, unknown> = {}, overrides: Record<string, unknown> = {}): Promise<TestServer> =>
  bootForTest({ t, config, overrides })
const people = async (server: TestServer) =>
  (await Promise.all([somebody(server), somebody(server), somebody(server)])) as [Somebody, Somebody, Somebody]

test('a space on trial is private until it is verified, as are its datasets on trial', async t => {
  const mailer = new MemoryMailer()
  const server = await boot(t, { access: { private: true } }, { [Mailer]: mailer })
  const [admin, nobody] = [callsOf(server.as(server.admin.key)), callsOf(server.as())]
  const [ann, bob, cid] = await people(server)
  const space = await newSpace(ann, 'Trial')
  const group = await idOf(admin.post('/api/groups', { name: 'waiting' }))
  await admin.put(`/api/spaces/${space}/groups/${group}?superAdmin=true`, {})
  await admin.post(`/api/groups/${group}/members`, { users: [bob.id] })
  const dataset = await newDataset(ann, { space: [space] })
  await server.get(Datasets).change(dataset, { set: { access: 'TRIAL' } }, [])
  const update = { name: 'Trial', description: '', timetolive: '1', enabled: false, access: 'PUBLIC' }
  await ann.post(`/api/spaces/${space}/update`, update)
  t.is((await server.get(Spaces).get(space))?.access, 'TRIAL')
  t.is((await ann.put(`/api/datasets/${dataset}/access?access=PUBLIC`)).status, 409)
  t.is((await nobody.get(`/api/spaces/${space}`)).status, 401)
  t.is((await cid.get(`/api/spaces/${space}`)).status, 404)
  t.is((await bob.get(`/api/spaces/${space}`)).status, 200)
  for (const person of [ann, cid]) t.is((await person.put(`/api/spaces/${space}/verify`)).status, 403)
  t.is((await nobody.put(`/api/spaces/${space}/verify`)).status, 401)
  t.is((await admin.put(`/api/spaces/${space}/verify`)).status, 200)
  await server.drained()
  t.is((await server.get(Spaces).get(space))?.access, 'PRIVATE')
  t.is((await server.get(Datasets).get(dataset))?.access, 'DEFAULT')
  const recipients = mailer.sent.filter(({ subject }) => subject === 'The space Trial has been verified').flatMap(({ to }) => to)
  t.deepEqual(recipients.sort(), [ann.email, bob.email].sort())
  t.is((await cid.get(`/api/spaces/${space}`)).status, 404)
  t.is((await ann.post(`/api/spaces/${space}/update`, update)).status, 200)
  await server.drained()
  for (const caller of [nobody, cid]) {
    t.is((await caller.get(`/api/spaces/${space}`)).status, 200)
    t.is((await caller.get(`/api/datasets/${dataset}`)).status, 200)
  }
})

test('without verification a space is private at once, and its admins can make it public', async t => {
  const server = await boot(t, { resources: { spaces: { verifySpaces: false } } })
  const [ann] = await people(server)
  const space = await newSpace(ann)
  t.is((await server.get(Spaces).get(space))?.access, 'PRIVATE')
  t.is((await callsOf(server.as(server.admin.key)).put(`/api/spaces/${space}/verify`)).status, 400)
  const update = { name: 'open', description: '', timetolive: '1', enabled: false, access: 'PUBLIC' }
  t.is((await ann.post(`/api/spaces/${space}/update`, update)).status, 200)
  t.deepEqual(await idsOf(callsOf(server.as()).get('/api/spaces')), [space])
})

for (const isPrivate of [false, true])
  test(`lists of spaces on a ${isPrivate ? 'private' : 'public'} server depend on the caller`, async t => {
    for (const enablePublic of [true, false]) {
      const server = await boot(t, { access: { private: isPrivate }, resources: { spaces: { enablePublic } } })
      const [admin, nobody] = [callsOf(server.as(server.admin.key)), callsOf(server.as())]
      const [ann, bob, cid] = await people(server)
      const [open, closed, trial] = [await newSpace(ann), await newSpace(ann), await newSpace(ann)]
      await publish(server, ann, open)
      await admin.put(`/api/spaces/${closed}/verify`)
      await letIn(ann, closed, 'Viewer', bob)
      const group = await idOf(admin.post('/api/groups', { name: 'through a group' }))
      await admin.put(`/api/spaces/${trial}/groups/${group}?superAdmin=true`, { role: 'Editor' })
      await admin.post(`/api/groups/${group}/members`, { users: [bob.id] })
      const shown = enablePublic ? [open] : []
      const list = async (who: Pick<Somebody, 'get'>, path = '/api/spaces') => [...(await allIds(who.get, path))].sort()
      t.deepEqual(await list(nobody), [open])
      t.deepEqual(await list(cid), shown)
      t.deepEqual(await list(bob), [...shown, closed, trial].sort())
      t.deepEqual(await list(ann), [open, closed, trial].sort())
      t.deepEqual(await list(admin), shown)
      t.deepEqual(await list(admin, '/api/spaces?superAdmin=true'), [open, closed, trial].sort())
      t.deepEqual(await list(bob, '/api/spaces/canEdit'), [trial])
      t.deepEqual(await list(ann, '/api/spaces/canEdit'), [open, closed, trial].sort())
      t.deepEqual(await list(nobody, '/api/spaces/canEdit'), [])
      await server.stop()
    }
  })

test('deleting a space ends its memberships, invitations and follows, and keeps its datasets and collections', async t => {
  const server = await boot(t)
  const admin = callsOf(server.as(server.admin.key))
  const [ann, bob] = await people(server)
  const space = await newSpace(ann)
  await letIn(ann, space, 'Editor', bob)
  const [dataset, collection] = [await newDataset(bob, { space: [space] }), await newCollection(bob, { space })]
  await bob.post(`/api/spaces/${space}/follow`)
  await ann.post(`/api/spaces/${space}/metadata`, { label: 'depth', type: 'string', uri: 'http://example.org/depth' })
  await ann.post(`/api/spaces/${space}/invite`, { emails: ['guest@elsewhere.example'] })
  t.is((await ann.remove(`/api/spaces/${space}`)).status, 200)
  await server.drained()
  t.deepEqual(((await bob.get(`/api/datasets/${dataset}`)).body as { spaces: string[] }).spaces, [])
  t.is((await bob.get(`/api/collections/${collection}`)).status, 200)
  const guest = await idOf(admin.post('/api/users', { email: 'guest@elsewhere.example', firstName: 'A', lastName: 'Guest' }))
  await server.drained()
  for (const id of [ann.id, bob.id, guest]) t.deepEqual((await server.get(Users).get(id))?.memberships, [])
  t.deepEqual((await server.get(Users).get(bob.id))?.followed, [])
})

test('if new datasets are on trial, adding them to a verified space ends the trial', async t => {
  const server = await boot(t, { access: { private: true }, resources: { datasets: { trial: true } } })
  const admin = callsOf(server.as(server.admin.key))
  const [ann] = await people(server)
  const [trial, verified] = [await newSpace(ann), await newSpace(ann)]
  await admin.put(`/api/spaces/${verified}/verify`)
  const accessOf = async (id: string) => (await server.get(Datasets).get(id))?.access
  t.is(await accessOf(await newDataset(ann, { space: [verified] })), 'DEFAULT')
  const [alone, inTrial] = [await newDataset(ann, { access: 'PUBLIC' }), await newDataset(ann, { space: [trial] })]
  for (const id of [alone, inTrial]) {
    t.is(await accessOf(id), 'TRIAL')
    t.is((await ann.put(`/api/datasets/${id}/access?access=PUBLIC`)).status, 409)
    t.is((await callsOf(server.as()).get(`/api/datasets/${id}`)).status, 401)
  }
  t.is((await ann.post(`/api/spaces/${trial}/addDatasetToSpace/${alone}`)).status, 200)
  t.is(await accessOf(alone), 'TRIAL')
  t.deepEqual((await ann.post(`/api/spaces/${trial}/removeDataset/${alone}`)).body, { isTrial: 'true' })
  t.is((await ann.post(`/api/spaces/${verified}/addDatasetToSpace/${alone}`)).status, 200)
  t.is(await accessOf(alone), 'DEFAULT')
  t.is((await ann.put(`/api/datasets/${alone}/access?access=PUBLIC`)).status, 200)
  t.deepEqual((await ann.post(`/api/spaces/${verified}/removeDataset/${alone}`)).body, { isTrial: 'false' })
  t.is((await admin.put(`/api/spaces/${trial}/verify`)).status, 200)
  await server.drained()
  t.is(await accessOf(inTrial), 'DEFAULT')
})
