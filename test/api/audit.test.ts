import test from 'ava'
import { collection, DocumentStore, type DocumentStore as Documents, Users } from 'pounce/sdk'
import { bootForTest, type TestFetch, type TestServer } from 'pounce/sdk/testing'
import { callsOf, nextOf } from '../support/calls.ts'
import { basic, byCookie, newKey, newPerson, signIn } from '../support/people.ts'
import { ok, refusal, unknownId } from '../support/scene.ts'
import { letIn, meet, newDataset, newSpace, somebody } from '../support/spaces-and-people.ts'

interface Line {
  readonly id: string
  readonly at: string
  readonly type: string
  readonly actor: { readonly id: string; readonly fullName: string; readonly email: string } | null
  readonly user: { readonly id: string; readonly email: string } | null
  readonly subject: { readonly kind: string; readonly id: string } | null
  readonly about: Readonly<Record<string, unknown>>
  readonly address: string | null
  readonly count: number
  readonly last: string
}

const server = await bootForTest({ config: { access: { private: true } } })
const admin = server.as(server.admin.key)
const { post, put, remove } = callsOf(admin)
test.after.always(() => server.stop())

const log = async (query = '', call: TestFetch = admin, on: TestServer = server) => {
  await on.drained()
  return ok<Line[]>(call(`/api/admin/audit?${query}`))
}
const typesOf = async (user: string): Promise<readonly string[]> => (await log(`user=${user}`)).map(({ type }) => type)

test('changes to accounts are logged with their actor', async t => {
  const ann = await newPerson(server, 'ann')
  await post('/api/admin/users', { readonly: [ann.id] })
  await post('/api/admin/users', { active: [ann.id] })
  const lines = (await log(`user=${ann.id}`)).filter(({ type }) => type !== 'key.created')
  t.deepEqual(
    lines.map(({ type, about, actor, user }) => [type, about['status'], actor?.email, user?.email]),
    [
      ['user.status-changed', 'Active', server.admin.email, ann.email],
      ['user.status-changed', 'ReadOnly', server.admin.email, ann.email],
      ['user.created', undefined, server.admin.email, ann.email],
    ],
  )
})

test('lines about keys and sessions contain no secrets', async t => {
  const bob = await newPerson(server, 'bob')
  const key = await newKey(server, bob.email, bob.password, 'name=night%20work')
  await bob.call('/api/users/keys/night%20work', { method: 'DELETE' })
  const cookie = await signIn(server, bob.email, bob.password)
  await byCookie(server, cookie)('/api/logout', { method: 'POST' })
  t.deepEqual(await typesOf(bob.id), ['user.signed-out', 'user.signed-in', 'key.revoked', 'key.created', 'key.created', 'user.created'])
  const [signedIn] = await log(`user=${bob.id}&type=user.signed-in`)
  t.is(signedIn?.address, '127.0.0.0/24')
  t.like((await log(`user=${bob.id}&type=key.revoked`))[0]?.about, { name: 'night work' })
  const all = JSON.stringify(await log('limit=500'))
  for (const secret of [key, bob.key, bob.password, cookie.split('=')[1] ?? '', server.admin.key]) t.false(all.includes(secret))
  const stored: unknown[] = []
  for await (const line of server.get(DocumentStore).walk(collection<object>()('audit'))) stored.push(line)
  for (const secret of [key, bob.password, '127.0.0.1']) t.false(JSON.stringify(stored).includes(secret))
})

test('failed sign-ins are one line with a count, and the name entered is not recorded', async t => {
  const cid = await newPerson(server, 'cid')
  const tried = { method: 'POST', json: { email: cid.email, password: 'guess of mine' } }
  for (let at = 0; at < 5; at += 1) t.is((await server.as()('/api/login', tried)).status, 401)
  for (const typed of ['my secret word', 'nobody@example.org'])
    await server.as()('/api/me', { headers: { authorization: basic(typed, 'x') } })
  await server.as('not-a-key')('/api/me')
  const lines = await log('type=sign-in.refused')
  const ofCid = lines.filter(({ user }) => user?.id === cid.id)
  t.deepEqual(
    ofCid.map(({ count, about, actor, address }) => [count, about['door'], actor, address]),
    [[5, 'password', null, '127.0.0.0/24']],
  )
  t.true(lines.some(({ user, about, count }) => user === null && about['door'] === 'password' && count >= 2))
  t.true(lines.some(({ user, about }) => user === null && about['door'] === 'key'))
  t.false(/secret word|nobody@|guess of mine/.test(JSON.stringify(lines)))
})

test('changes in superadmin mode are recorded with route and resource; reads and refused requests are not', async t => {
  const ann = await somebody(server, 'ann')
  const dataset = await newDataset(ann, { name: 'Of Ann' })
  const name = { name: 'Renamed' }
  t.is((await put(`/api/datasets/${dataset}/title`, name)).status, 404)
  t.is((await callsOf(admin).get(`/api/datasets/${dataset}?superAdmin=true`)).status, 200)
  t.is((await put(`/api/datasets/${unknownId}/title?superAdmin=true`, name)).status, 404)
  t.is((await put(`/api/datasets/${dataset}/title?superAdmin=true`, name)).status, 200)
  t.is((await ann.put(`/api/datasets/${dataset}/title?superAdmin=true`, name)).status, 200)
  const lines = (await log('type=superadmin.used')).filter(({ subject }) => subject?.id === dataset || subject?.id === unknownId)
  t.is(lines.length, 1)
  t.like(lines[0], { actor: { id: server.admin.id }, subject: { kind: 'dataset', id: dataset } })
  t.like(lines[0]?.about, { method: 'PUT', path: '/api/datasets/:id/title', via: 'key' })
  t.regex(String(lines[0]?.about['key']), /^[0-9a-f]{24}$/)
})

test('a change in superadmin mode that cannot be recorded is refused', async t => {
  const other = await bootForTest({ t })
  const ann = await somebody(other, 'ann')
  const dataset = await newDataset(ann, { name: 'Kept' })
  const documents: Documents = other.get(DocumentStore)
  const commitEach = documents.commitEach.bind(documents)
  documents.commitEach = async items => {
    if (items.some(({ change }) => 'into' in change && change.into.name === 'audit')) throw new Error('the log is full')
    return commitEach(items)
  }
  const { put: putThere } = callsOf(other.as(other.admin.key))
  t.is((await putThere(`/api/datasets/${dataset}/title?superAdmin=true`, { name: 'Lost' })).status, 500)
  documents.commitEach = commitEach
  t.like((await ann.get(`/api/datasets/${dataset}`)).body, { name: 'Kept' })
  t.is((await other.as()('/api/login', { method: 'POST', json: { email: ann.email, password: 'wrong' } })).status, 401)
})

test('changes to members, roles and settings, and reindexing, are logged', async t => {
  const [ann, bob] = [await somebody(server, 'ann'), await somebody(server, 'bob')]
  const space = await newSpace(ann, 'Lab')
  // Otherwise adding Bob counts as an invitation.
  await meet(server, ann, bob)
  await letIn(ann, space, 'Viewer', bob)
  await letIn(ann, space, 'Editor', bob)
  await letIn(ann, space, 'Viewer')
  await letIn(ann, space, 'Editor')
  t.deepEqual(
    (await log(`user=${bob.id}&type=space.member-changed`)).map(({ about, actor, subject }) => [about['change'], actor?.id, subject?.id]),
    ['removed', 'role', 'added'].map(change => [change, ann.id, space]),
  )
  t.regex(String((await log(`user=${bob.id}&type=space.member-changed`))[1]?.about['role']), /^[0-9a-f]{24}$/)
  await post('/api/admin/configuration', { displayName: 'Secretive', tosHtml: true })
  const [settings] = await log('type=site.updated')
  t.deepEqual(settings?.about, { fields: ['displayName', 'tosHtml'] })
  t.is(settings?.actor?.id, server.admin.id)
  await post('/api/reindex')
  t.is((await log('type=admin.reindex'))[0]?.actor?.id, server.admin.id)
})

test('filters, time ranges and pages neither skip nor repeat lines', async t => {
  const dan = await newPerson(server, 'dan')
  for (let at = 0; at < 3; at += 1) for (const list of ['readonly', 'active']) await post('/api/admin/users', { [list]: [dan.id] })
  const whole = await log(`user=${dan.id}`)
  t.is(whole.length, 8)
  const seen: string[] = []
  for (let path: string | undefined = `/api/admin/audit?user=${dan.id}&limit=3`; path; ) {
    const page = await callsOf(admin).get(path)
    seen.push(...(page.body as Line[]).map(({ id }) => id))
    path = nextOf(page)
  }
  t.deepEqual(
    seen,
    whole.map(({ id }) => id),
  )
  const [newest, oldest] = [whole[0]?.at ?? '', whole.at(-1)?.at ?? '']
  t.is((await log(`user=${dan.id}&since=${oldest}&until=${newest}&actor=${server.admin.id}`)).length, 7, 'the key was made by dan')
  t.is((await log(`user=${dan.id}&since=2999-01-01T00:00:00Z`)).length, 0)
  t.deepEqual(await log(`user=${unknownId}`), [])
})

test('the log is readable by server admins only, cannot be changed, and refuses invalid filters', async t => {
  const eve = await newPerson(server, 'eve')
  const extraction = await newKey(server, server.admin.email, server.admin.password, 'name=extractor&scope=extraction')
  for (const path of ['/api/admin/audit', '/api/admin/audit/csv']) {
    t.is((await server.as()(path)).status, 401)
    t.is((await eve.call(path)).status, 403)
    t.is((await eve.call(`${path}?superAdmin=true`)).status, 403)
    t.is((await server.as(extraction)(path)).status, 403)
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) t.true([404, 405].includes((await admin(path, { method })).status))
    for (const query of ['since=yesterday', 'until=x', `type=${'x'.repeat(101)}`])
      t.is((await refusal(admin(`${path}?${query}`))).status, 400, query)
  }
  for (const query of ['limit=0', 'limit=501', 'after=x']) t.is((await refusal(admin(`/api/admin/audit?${query}`))).status, 400, query)
  t.is((await remove(`/api/admin/audit/${unknownId}`)).status, 404)
})

test('the CSV export has the same lines as the pages, with formulas escaped', async t => {
  const fay = await newPerson(server, '=fay')
  await server.get(Users).change(fay.id, { set: { email: '=cmd()@example.org' } }, [])
  await post('/api/admin/users', { readonly: [fay.id] })
  await server.drained()
  const answer = await admin(`/api/admin/audit/csv?user=${fay.id}`)
  t.is(answer.headers.get('content-type'), 'text/csv; charset=utf-8')
  const [head, ...rows] = (await answer.text()).trim().split('\r\n')
  t.is(head, 'at,type,actor,actor id,user,user id,subject,subject id,address,count,last,about,chain,seq,hash')
  t.is(rows.length, (await log(`user=${fay.id}`)).length)
  t.regex(rows[0] ?? '', /,user\.status-changed,"admin@example\.org",.*,"'=cmd\(\)@example\.org",/)
  t.regex(rows[0] ?? '', /,"\{""fields"":\[""status""\],""status"":""ReadOnly""\}",[0-9a-f]{24},\d+,[0-9a-f]{64}$/)
})
