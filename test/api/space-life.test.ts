import test from 'ava'
import { Collections, Datasets, Mailer, Spaces } from 'pounce/sdk'
import { bootForTest, FixedClock, MemoryMailer } from 'pounce/sdk/testing'
import { callsOf, idOf } from '../support/calls.ts'
import { letIn, newCollection, newDataset, newSpace, recordPlugins, type Somebody, somebody } from '../support/spaces-and-people.ts'

const [clock, mailer] = [new FixedClock(), new MemoryMailer()]
const server = await bootForTest({ plugins: recordPlugins, clock, overrides: { [Mailer]: mailer } })
test.after.always(() => server.stop())
const admin = callsOf(server.as(server.admin.key))
const hourMs = 3_600_000
const mailsTo = ({ email }: { readonly email: string }, about: RegExp) =>
  mailer.sent.filter(({ to, subject }) => to[0] === email.toLowerCase() && about.test(subject))

const setTimeToLive = (owner: Somebody, space: string, hours: number | string, enabled: boolean) =>
  owner.post(`/api/spaces/${space}/update`, { name: 'short-lived', description: '', timetolive: hours, enabled })

test.serial('added, accepted and rejected users get a mail, and so do the other editors of the space', async t => {
  const [ann, bob, cat, dan] = [
    await somebody(server, 'Ann'),
    await somebody(server, 'Bob'),
    await somebody(server, 'Cat'),
    await somebody(server, 'Dan'),
  ]
  const space = await newSpace(ann, 'Reef\u2028 watch')
  await letIn(ann, space, 'Viewer', bob)
  await server.drained()
  t.is(mailsTo(bob, /added you to the space Reef/).length, 1)
  t.is(mailsTo(ann, /added you/).length, 0)
  t.true(mailsTo(bob, /added/).every(({ text }) => text.includes(`/spaces/${space}`)))
  const requests = [cat, dan].map(({ id }) => ({ user: id, at: clock.now().toISOString() }))
  await server.get(Spaces).change(space, { set: { requests } }, [])
  t.is((await ann.post(`/api/spaces/${space}/acceptRequest?user=${cat.id}&role=Admin`)).status, 200)
  t.is((await ann.post(`/api/spaces/${space}/rejectRequest?user=${dan.id}`)).status, 200)
  await server.drained()
  t.is(mailsTo(cat, /Your request .* was accepted/).length, 1)
  t.is(mailsTo(dan, /Your request .* was rejected/).length, 1)
  t.is(mailsTo(cat, /request of Dan .* was rejected/).length, 1)
  // Users are not notified of their own actions.
  t.is(mailsTo(ann, /request of/).length, 0)
  t.is(mailsTo(bob, /request/).length, 0)
  t.is((await admin.put(`/api/spaces/${space}/verify`)).status, 200)
  await server.drained()
  for (const person of [ann, bob, cat]) t.is(mailsTo(person, /has been verified/).length, 1)
  t.is(mailsTo(dan, /has been verified/).length, 0)
})

test.serial('server admins are notified of permanently deleted spaces and collections', async t => {
  const ann = await somebody(server, 'Ann')
  const [space, collection] = [await newSpace(ann, 'Doomed'), await newCollection(ann, { name: 'Doomed too' })]
  await ann.remove(`/api/spaces/${space}`)
  await ann.remove(`/api/collections/${collection}`)
  await server.drained()
  t.is(mailsTo(server.admin, /deleted the collection/).length, 0)
  await ann.remove(`/api/collections/${collection}`)
  await server.drained()
  t.is(mailsTo(server.admin, /deleted the space Doomed/).length, 1)
  t.is(mailsTo(server.admin, /deleted the collection Doomed too/).length, 1)
})

test.serial('resources older than the time to live of their space are deleted, once that is enabled', async t => {
  const ann = await somebody(server)
  const [space, other] = [await newSpace(ann), await newSpace(ann)]
  const old = await newDataset(ann, { space: [space] })
  const shared = await newDataset(ann, { space: [space, other] })
  const touched = await newDataset(ann, { space: [space] })
  const [empty, full] = [await newCollection(ann, { space }), await newCollection(ann, { space })]
  await ann.post(`/api/collections/${full}/datasets/${touched}`)
  clock.advance(5 * hourMs)
  await ann.put(`/api/datasets/${touched}/title`, { name: 'touched' })
  const fresh = await newDataset(ann, { space: [space] })
  t.is((await setTimeToLive(ann, space, '3', false)).status, 200)
  const expire = async () => {
    await server.runPeriodic('resources.spaces/expiry')
    await server.drained()
  }
  await expire()
  t.is((await server.get(Datasets).get(old))?.state, 'live')
  t.is((await setTimeToLive(ann, space, 3, true)).status, 200)
  await expire()
  const datasets = await server.get(Datasets).getMany([old, shared, touched, fresh])
  t.is(datasets.get(old)?.state, 'trashed')
  t.like(datasets.get(shared), { state: 'live', spaces: [other] })
  for (const id of [touched, fresh]) t.like(datasets.get(id), { state: 'live', spaces: [space] })
  t.is((await server.get(Collections).get(empty))?.state, 'trashed')
  t.is((await server.get(Collections).get(full))?.state, 'live')
  await expire()
  t.is((await server.get(Datasets).get(old))?.state, 'trashed')
  for (const wrong of ['', '-1', 'soon', 1.5, null]) {
    t.is((await ann.post(`/api/spaces/${space}/update`, { name: 'n', description: '', timetolive: wrong, enabled: true })).status, 400)
  }
})

/** Whether a collection is its own ancestor. */
const isInCircle = async (id: string): Promise<boolean> => {
  const seen = new Set<string>()
  const open = [id]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const parent of (await server.get(Collections).get(next))?.parents ?? []) {
      if (parent === id) return true
      if (!seen.has(parent)) open.push(parent)
      seen.add(parent)
    }
  }
  return false
}

test.serial('of concurrent subcollection links that would form a cycle, one is refused with 409', async t => {
  const ann = await somebody(server)
  for (let round = 0; round < 10; round++) {
    const ring = await Promise.all(Array.from({ length: 4 }, () => newCollection(ann)))
    const edges = ring.map((id, n) => [id, ring[(n + 1) % ring.length]] as const)
    const answers = await Promise.all(edges.map(([parent, child]) => ann.post(`/api/collections/${parent}/addSubCollection/${child}`)))
    await server.drained()
    t.is(answers.filter(({ status }) => status === 200).length, 3)
    t.is(answers.filter(({ status }) => status === 409).length, 1)
    t.false((await Promise.all(ring.map(isInCircle))).some(Boolean))
  }
})

test.serial('removing a collection makes its children top-level collections', async t => {
  const ann = await somebody(server)
  const space = await newSpace(ann)
  const top = await newCollection(ann, { name: 'top', space })
  const child = await idOf(ann.post('/api/collections/newCollectionWithParent', { name: 'child', parentId: top }))
  const dataset = await newDataset(ann, { collection: [child], space: [space] })
  for (let n = 0; n < 2; n++) await ann.remove(`/api/collections/${top}`)
  await server.drained()
  t.like(await server.get(Collections).get(child), { parents: [], spaces: [space], rootSpaces: [space], isTopLevel: true })
  t.deepEqual((await server.get(Datasets).get(dataset))?.collections, [child])
  t.deepEqual((await ann.get(`/api/collections/${child}/getParentCollectionIds`)).body, [])
})
