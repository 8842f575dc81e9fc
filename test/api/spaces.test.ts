import test from 'ava'
import { Spaces, Users } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { allIds, callsOf, idOf, idsOf, nextOf } from '../support/calls.ts'
import { refusal } from '../support/people.ts'
import { letIn, newDataset, newSpace, publish, recordPlugins, somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest({ plugins: recordPlugins })
test.after.always(() => server.stop())
const admin = callsOf(server.as(server.admin.key))
const nobody = callsOf(server.as())
const unknownId = 'f'.repeat(24)
const ok = { status: 'success' }

test('a space is created, shown and listed for its creator', async t => {
  const ann = await somebody(server)
  const id = await idOf(ann.post('/api/spaces', { name: 'Lakes – 湖', description: 'two\nlines' }))
  const { status, body } = await ann.get(`/api/spaces/${id}`)
  t.is(status, 200)
  const { created, ...rest } = body as Record<string, string>
  t.deepEqual(rest, { id, name: 'Lakes – 湖', description: 'two\nlines' })
  t.regex(created ?? '', /^\w{3} \w{3} \d\d \d\d:\d\d:\d\d UTC \d{4}$/)
  t.true((await allIds(ann.get, '/api/spaces')).includes(id))
  t.deepEqual(await idsOf(ann.get('/api/spaces/canEdit')), [id])
  const record = await server.get(Spaces).get(id)
  t.is(record?.access, 'TRIAL')
  t.false(record?.isPublic)
})

test('the creator of a space is its Admin member', async t => {
  const ann = await somebody(server)
  const id = await newSpace(ann)
  const roles = await server.get(Users).roles()
  const user = await server.get(Users).get(ann.id)
  t.deepEqual(user?.memberships, [{ space: id, role: roles.find(role => role.name === 'Admin')?.id ?? '' }])
})

test('a space with a missing or invalid name or description is refused and not created', async t => {
  const ann = await somebody(server)
  const wrong = [
    {},
    { name: 'no description' },
    { description: 'no name' },
    { name: '', description: '' },
    { name: 'x'.repeat(501), description: '' },
    { name: 'line\nbreak', description: '' },
    { name: 7, description: '' },
    { name: null, description: '' },
    { name: 'n', description: 'x'.repeat(10_001) },
    { name: 'n', description: 'nul\u0000' },
  ]
  for (const json of wrong) t.is((await ann.post('/api/spaces', json)).status, 400, JSON.stringify(json).slice(0, 60))
  t.deepEqual(await idsOf(ann.get('/api/spaces/canEdit')), [])
  t.is((await nobody.post('/api/spaces', { name: 'n', description: '' })).status, 401)
})

test('malformed, unknown and deleted ids get the same response', async t => {
  const ann = await somebody(server)
  const id = await newSpace(ann)
  t.is((await ann.remove(`/api/spaces/${id}`)).status, 200)
  const answers = await Promise.all(
    ['nonsense', unknownId, id, unknownId.toUpperCase()].map(async one => refusal(await ann.call(`/api/spaces/${one}`))),
  )
  for (const answer of answers) t.deepEqual(answer, answers[0])
  t.is(answers[0]?.['httpStatus'], 404)
  for (const one of ['nonsense', unknownId]) {
    t.is((await ann.remove(`/api/spaces/${one}`)).status, 404)
    t.is((await ann.post(`/api/spaces/${one}/follow`)).status, 404)
    t.is((await ann.post(`/api/spaces/${one}/unfollow`)).status, 404)
    t.is((await ann.post(`/api/spaces/${one}/updateUsers`, { rolesandusers: {} })).status, 404)
    t.is((await admin.put(`/api/spaces/${one}/verify`)).status, 404)
  }
})

test('all properties of a space can be updated, its access only after the trial', async t => {
  const ann = await somebody(server)
  const id = await newSpace(ann)
  const update = { name: 'new', description: 'text', timetolive: '48', enabled: true, access: 'PUBLIC' }
  t.deepEqual((await ann.post(`/api/spaces/${id}/update`, update)).body, ok)
  const onTrial = await server.get(Spaces).get(id)
  t.like(onTrial, { name: 'new', description: 'text', timeToLiveMs: 172_800_000, isTimeToLiveEnabled: true, access: 'TRIAL' })
  t.is((await ann.put(`/api/spaces/${id}/verify`)).status, 403)
  t.deepEqual((await admin.put(`/api/spaces/${id}/verify`)).body, ok)
  t.is((await admin.put(`/api/spaces/${id}/verify`)).status, 400)
  t.deepEqual((await ann.post(`/api/spaces/${id}/update`, { ...update, timetolive: 1 })).body, ok)
  t.like(await server.get(Spaces).get(id), { access: 'PUBLIC', isPublic: true, timeToLiveMs: 3_600_000 })
})

test('a change of name and description keeps the time to live', async t => {
  const ann = await somebody(server)
  const id = await newSpace(ann)
  await ann.post(`/api/spaces/${id}/update`, { name: 'new', description: '', timetolive: '48', enabled: true })
  t.deepEqual((await ann.post(`/api/spaces/${id}/update`, { name: 'newer', description: 'text' })).body, ok)
  t.like(await server.get(Spaces).get(id), { name: 'newer', description: 'text', timeToLiveMs: 172_800_000, isTimeToLiveEnabled: true })
})

test('an update without name or description, or with invalid values, is refused and changes nothing', async t => {
  const ann = await somebody(server)
  const id = await newSpace(ann, 'old')
  const whole = { name: 'new', description: '', timetolive: '48', enabled: true }
  const wrong = [
    ...['name', 'description'].map(key => ({ ...whole, [key]: undefined })),
    { ...whole, timetolive: 'soon' },
    { ...whole, timetolive: '-1' },
    { ...whole, enabled: 'perhaps' },
    { ...whole, access: 'OPEN' },
    { ...whole, access: 'TRIAL' },
  ]
  for (const json of wrong) t.is((await ann.post(`/api/spaces/${id}/update`, json)).status, 400, JSON.stringify(json))
  t.is((await server.get(Spaces).get(id))?.name, 'old')
  t.is((await server.get(Spaces).get(id))?.revision, 1)
})

test('only admins of a space can change it', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const id = await newSpace(ann)
  const update = { name: 'taken', description: '', timetolive: '1', enabled: false }
  t.is((await bob.post(`/api/spaces/${id}/update`, update)).status, 403)
  t.is((await bob.remove(`/api/spaces/${id}`)).status, 403)
  t.is((await bob.post(`/api/spaces/${id}/updateUsers`, { rolesandusers: { Admin: bob.id } })).status, 403)
  t.is((await nobody.post(`/api/spaces/${id}/update`, update)).status, 401)
  await letIn(ann, id, 'Editor', bob)
  t.is((await bob.post(`/api/spaces/${id}/update`, update)).status, 403)
  t.is((await server.get(Spaces).get(id))?.name, 'a space')
})

test('each role in the request gets exactly the listed users; other roles are unchanged', async t => {
  const ann = await somebody(server)
  const [bob, cid, dan] = [await somebody(server), await somebody(server), await somebody(server)]
  const id = await newSpace(ann)
  const roleOf = async (person: { id: string }) => {
    const roles = await server.get(Users).roles()
    const held = (await server.get(Users).get(person.id))?.memberships.find(({ space }) => space === id)
    return roles.find(role => role.id === held?.role)?.name
  }
  const assign = (rolesandusers: object) => ann.post(`/api/spaces/${id}/updateUsers`, { rolesandusers })
  t.deepEqual((await assign({ Viewer: `${bob.id}, ${cid.id}`, Editor: dan.id })).body, ok)
  t.deepEqual(await Promise.all([bob, cid, dan, ann].map(roleOf)), ['Viewer', 'Viewer', 'Editor', 'Admin'])
  t.deepEqual((await assign({ Viewer: cid.id, Editor: bob.id })).body, ok)
  t.deepEqual(await Promise.all([bob, cid, dan, ann].map(roleOf)), ['Editor', 'Viewer', undefined, 'Admin'])
  t.deepEqual((await assign({ Viewer: '' })).body, ok)
  t.deepEqual(await Promise.all([bob, cid, dan, ann].map(roleOf)), ['Editor', undefined, undefined, 'Admin'])
})

test('unknown roles and people are refused before anything is changed', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const id = await newSpace(ann)
  const wrong: readonly unknown[] = [
    {},
    { rolesandusers: 'Admin' },
    { rolesandusers: { Manager: bob.id } },
    { rolesandusers: { Viewer: `${bob.id},${unknownId}` } },
    { rolesandusers: { Viewer: `${bob.id},nonsense` } },
    { rolesandusers: { Viewer: bob.id, Editor: bob.id } },
    { rolesandusers: { Viewer: [bob.id] } },
    { rolesandusers: JSON.parse('{"__proto__": "x"}') },
  ]
  for (const json of wrong) t.is((await ann.post(`/api/spaces/${id}/updateUsers`, json)).status, 400, JSON.stringify(json))
  t.deepEqual((await server.get(Users).get(bob.id))?.memberships, [])
})

test('a member can be removed, a non-member cannot', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const id = await newSpace(ann)
  await letIn(ann, id, 'Viewer', bob)
  t.is((await ann.post(`/api/spaces/${id}/removeUser`)).status, 400)
  t.deepEqual((await ann.post(`/api/spaces/${id}/removeUser?removeUser=${bob.id}`)).body, ok)
  t.deepEqual((await server.get(Users).get(bob.id))?.memberships, [])
  t.is((await ann.post(`/api/spaces/${id}/removeUser?removeUser=${bob.id}`)).status, 400)
  t.is((await ann.post(`/api/spaces/${id}/removeUser?removeUser=nonsense`)).status, 400)
})

test('a deleted space disappears at once, then also from its members and datasets', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const id = await newSpace(ann)
  await letIn(ann, id, 'Editor', bob)
  const dataset = await newDataset(bob, { space: [id] })
  t.deepEqual((await ann.remove(`/api/spaces/${id}`)).body, ok)
  t.is((await ann.get(`/api/spaces/${id}`)).status, 404)
  t.is((await ann.remove(`/api/spaces/${id}`)).status, 404)
  t.deepEqual(await idsOf(ann.get('/api/spaces/canEdit')), [])
  await server.drained()
  for (const { id } of [ann, bob]) t.deepEqual((await server.get(Users).get(id))?.memberships, [])
  const { body } = await bob.get(`/api/datasets/${dataset}`)
  t.deepEqual((body as { spaces: string[] }).spaces, [])
})

test('requests to join are decided by admins of the space', async t => {
  const [ann, bob, cid] = [await somebody(server), await somebody(server), await somebody(server)]
  const id = await newSpace(ann)
  const at = new Date().toISOString()
  await server.get(Spaces).change(id, { set: { requests: [bob, cid].map(person => ({ user: person.id, at })) } }, [])
  t.is((await bob.post(`/api/spaces/${id}/acceptRequest?user=${bob.id}&role=Editor`)).status, 403)
  t.is((await ann.post(`/api/spaces/${id}/acceptRequest?user=${bob.id}&role=King`)).status, 400)
  t.deepEqual((await ann.post(`/api/spaces/${id}/acceptRequest?user=${bob.id}&role=Editor`)).body, ok)
  t.deepEqual((await ann.post(`/api/spaces/${id}/rejectRequest?user=${cid.id}`)).body, ok)
  t.is((await ann.post(`/api/spaces/${id}/acceptRequest?user=${bob.id}`)).status, 404)
  t.deepEqual((await server.get(Spaces).get(id))?.requests, [])
  t.is((await server.get(Users).get(bob.id))?.memberships.length, 1)
  t.deepEqual((await server.get(Users).get(cid.id))?.memberships, [])
})

test('following a space is stored once and can be ended', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const id = await newSpace(ann)
  t.deepEqual((await bob.post(`/api/spaces/${id}/follow`)).body, ok)
  t.deepEqual((await bob.post(`/api/spaces/${id}/follow`)).body, ok)
  t.deepEqual((await server.get(Users).get(bob.id))?.followed, [{ kind: 'space', id }])
  t.like(await bob.post(`/api/spaces/${id}/unfollow`), { status: 200, body: '' })
  t.like(await bob.post(`/api/spaces/${id}/unfollow`), { status: 200, body: '' })
  t.deepEqual((await server.get(Users).get(bob.id))?.followed, [])
  t.is((await nobody.post(`/api/spaces/${id}/follow`)).status, 401)
})

test('the list shows public spaces to all callers and others to their members', async t => {
  const [ann, bob, cid] = [await somebody(server), await somebody(server), await somebody(server)]
  const [open, closed] = [await newSpace(ann), await newSpace(ann)]
  await publish(server, ann, open)
  await letIn(ann, closed, 'Viewer', bob)
  const of = async (ids: Promise<readonly string[]>) => (await ids).filter(id => id === open || id === closed)
  t.deepEqual(await of(allIds(ann.get, '/api/spaces')), [closed, open])
  t.deepEqual(await of(allIds(bob.get, '/api/spaces')), [closed, open])
  t.deepEqual(await of(allIds(cid.get, '/api/spaces')), [open])
  t.deepEqual(await of(allIds(nobody.get, '/api/spaces')), [open])
  t.deepEqual(await of(allIds(admin.get, '/api/spaces')), [open])
  t.deepEqual(await of(allIds(admin.get, '/api/spaces?superAdmin=true')), [closed, open])
  t.deepEqual(await idsOf(bob.get('/api/spaces/canEdit')), [])
  t.deepEqual(await idsOf(nobody.get('/api/spaces/canEdit')), [])
})

test('pages of a list neither skip nor repeat entries', async t => {
  const ann = await somebody(server)
  const made: string[] = []
  for (let n = 0; n < 7; n++) made.unshift(await newSpace(ann, `numbered ${n}`))
  const first = await ann.get('/api/spaces/canEdit?limit=3')
  t.deepEqual(await idsOf(Promise.resolve(first)), made.slice(0, 3))
  t.truthy(nextOf(first))
  t.deepEqual(await allIds(ann.get, '/api/spaces/canEdit?limit=3'), made)
  t.is(nextOf(await ann.get('/api/spaces/canEdit?limit=0')), undefined)
  t.deepEqual(await idsOf(ann.get('/api/spaces/canEdit?title=NUMBERED%204')), [made[2]])
  t.deepEqual(await idsOf(ann.get('/api/spaces/canEdit?title=.*')), [])
  t.is((await ann.get('/api/spaces?limit=-1')).status, 400)
  t.is((await ann.get('/api/spaces?date=yesterday')).status, 400)
  t.is((await ann.get('/api/spaces?after=nonsense')).status, 400)
})
