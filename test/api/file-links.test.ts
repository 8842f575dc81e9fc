import test, { type ExecutionContext } from 'ava'
import { bootForTest, FixedClock } from 'pounce/sdk/testing'
import { callsOf, idsOf } from '../support/calls.ts'
import { byCookie, newKey, signIn } from '../support/people.ts'
import { newDataset, upload } from '../support/scene.ts'
import { letIn, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'

const clock = new FixedClock()
const server = await bootForTest({
  clock,
  config: { access: { private: true }, resources: { files: { linkDays: 3 } } },
})
test.after.always(() => server.stop())
const admin = callsOf(server.as(server.admin.key))

interface Made {
  readonly id: string
  readonly path: string
  readonly token: string
}
const newFile = async (owner: Somebody) => upload(owner.call, await newDataset(owner.call), 'by link')
const linkBy = async (call: Somebody['call'], file: string): Promise<Made> => {
  const answer = await call(`/files/${file}/links`, { method: 'POST' })
  if (answer.status !== 200) throw new Error(await answer.text())
  const { id, link } = (await answer.json()) as { id: string; link: string }
  const path = new URL(link).pathname
  return { id, path, token: path.split('/').at(-1) ?? '' }
}
const opens = async (...links: readonly Made[]) => Promise.all(links.map(async ({ path }) => (await server.as()(path)).status === 200))
const owner = async (name: string) => {
  const person = await somebody(server, name)
  return { person, file: await newFile(person) }
}
const ends = async (t: ExecutionContext, link: Made) => {
  const [answer, unknown] = await Promise.all([server.as()(link.path), server.as()('/files/links/nonsense')])
  t.is(answer.status, 404)
  const parts = await Promise.all([answer.json(), unknown.json()])
  const [one, other] = parts.map(part => ({ ...(part as object), requestId: '' }))
  t.deepEqual(one, other)
}

test('a link ends with the key that created it; links of other keys remain valid', async t => {
  const { person, file } = await owner('keys')
  const key = await newKey(server, person.email, person.password, 'name=second')
  const [first, second] = [await linkBy(person.call, file), await linkBy(server.as(key), file)]
  t.deepEqual(await opens(first, second), [true, true])
  t.is((await person.remove('/api/users/keys/second')).status, 204)
  await ends(t, second)
  t.deepEqual(await opens(first), [true])
})

test('a link is limited to what the key that created it can currently access', async t => {
  const person = await somebody(server, 'held')
  const [space, other] = [await newSpace(person), await newSpace(person)]
  const dataset = await newDataset(person.call, { space: [space] })
  const file = await upload(person.call, dataset, 'held')
  const key = await newKey(server, person.email, person.password, `name=held&spaces=${space}`)
  const [held, free] = [await linkBy(server.as(key), file), await linkBy(person.call, file)]
  t.deepEqual(await opens(held, free), [true, true])
  t.is((await person.post(`/api/spaces/${other}/addDatasetToSpace/${dataset}`)).status, 200)
  t.is((await person.post(`/api/spaces/${space}/removeDataset/${dataset}`)).status, 200)
  await server.drained()
  await ends(t, held)
  t.deepEqual(await opens(free), [true])
})

test('a link ends with the session that created it', async t => {
  const { person, file } = await owner('sessions')
  const cookies = [await signIn(server, person.email, person.password), await signIn(server, person.email, person.password)]
  const calls = cookies.map(cookie => byCookie(server, cookie))
  const [one, other] = [await linkBy(calls[0] as Somebody['call'], file), await linkBy(calls[1] as Somebody['call'], file)]
  const sessions = (await (await (calls[0] as Somebody['call'])('/api/sessions')).json()) as { id: string; isCurrent: boolean }[]
  t.is((await person.remove(`/api/sessions/${sessions.find(session => session.isCurrent)?.id}`)).status, 204)
  await ends(t, one)
  t.deepEqual(await opens(other), [true])
})

test('changing the password ends all links of an account, with or without revokeKeys', async t => {
  for (const revokeKeys of [true, false]) {
    const { person, file } = await owner('password')
    const link = await linkBy(person.call, file)
    t.deepEqual(await opens(link), [true])
    const change = { password: person.password, newPassword: `${person.password} new`, revokeKeys }
    t.is((await person.post('/api/password', change)).status, 200)
    await ends(t, link)
  }
})

test('the links of a suspended account end and are not restored', async t => {
  const { person, file } = await owner('suspended')
  const link = await linkBy(person.call, file)
  t.is((await admin.post('/api/admin/users', { inactive: [person.id] })).status, 200)
  await ends(t, link)
  await server.drained()
  t.is((await admin.post('/api/admin/users', { active: [person.id] })).status, 200)
  t.is((await person.get('/api/me')).status, 200)
  await ends(t, link)
})

test('users list and revoke only their own links', async t => {
  const { person, file } = await owner('lists')
  const [eve, links] = [await somebody(server, 'eve'), [await linkBy(person.call, file), await linkBy(person.call, file)] as const]
  const [one, two] = links
  const answer = await person.get('/api/users/links')
  t.is(answer.status, 200)
  const shown = answer.body as { id: string; file: object; maker: { id: string }; lastUsed: string | null }[]
  t.deepEqual(shown.map(({ id }) => id).toSorted(), links.map(({ id }) => id).toSorted())
  for (const each of shown) t.like(each, { file: { id: file, name: 'hello.txt' }, lastUsed: null })
  t.false(JSON.stringify(answer.body).includes(one.token))
  t.deepEqual(await idsOf(eve.get('/api/users/links')), [])
  t.is((await eve.remove(`/api/users/links/${one.id}`)).status, 404)
  t.is((await person.remove(`/api/users/links/${one.id}`)).status, 204)
  t.is((await person.remove(`/api/users/links/${one.id}`)).status, 404)
  await ends(t, one)
  t.deepEqual(await idsOf(person.get('/api/users/links')), [two.id])
  t.is((await person.remove('/api/users/links')).status, 204)
  await ends(t, two)
})

test('the last use of a link is recorded', async t => {
  const { person, file } = await owner('used')
  const link = await linkBy(person.call, file)
  t.is((await server.as()(link.path, { method: 'HEAD' })).status, 200)
  const lastUsed = async () => ((await person.get('/api/users/links')).body as { lastUsed: string | null }[])[0]?.lastUsed
  t.is(await lastUsed(), null)
  t.deepEqual(await opens(link), [true])
  await until('the use to be recorded', async () => (await lastUsed()) !== null)
})

test('editors of a file list and revoke all links to it; a server admin those of a user', async t => {
  const { person } = await owner('maker')
  const [eve, space] = [await somebody(server, 'viewer'), await newSpace(person)]
  await letIn(person, space, 'Viewer', eve)
  const file = await upload(person.call, await newDataset(person.call, { space: [space] }))
  const [one, two] = [await linkBy(person.call, file), await linkBy(person.call, file)]
  t.is((await eve.get(`/api/files/${file}/links`)).status, 403)
  t.is((await eve.remove(`/api/files/${file}/links/${one.id}`)).status, 403)
  t.is((await eve.get(`/api/users/${person.id}/links`)).status, 403)
  t.is((await eve.remove(`/api/users/${person.id}/links`)).status, 403)
  t.deepEqual((await idsOf(person.get(`/api/files/${file}/links`))).toSorted(), [one.id, two.id].toSorted())
  t.is((await person.remove(`/api/files/${await newFile(person)}/links/${one.id}`)).status, 404)
  t.is((await person.remove(`/api/files/${file}/links/${one.id}`)).status, 204)
  await ends(t, one)
  t.deepEqual(await idsOf(admin.get(`/api/users/${person.id}/links`)), [two.id])
  t.is((await admin.remove(`/api/users/${person.id}/links`)).status, 204)
  await ends(t, two)
})

test('a link created in superadmin mode ends when its creator is no longer a server admin', async t => {
  const { file } = await owner('other')
  const chief = await somebody(server, 'chief')
  await admin.post('/api/admin/users', { admin: [chief.id] })
  const link = await linkBy((path, init) => chief.call(`${path}?superAdmin=true`, init), file)
  t.deepEqual(await opens(link), [true])
  await admin.post('/api/admin/users', { active: [chief.id], unadmin: [chief.id] })
  await ends(t, link)
})

test.serial('links expire after the configured number of days', async t => {
  const { person, file } = await owner('days')
  const link = await linkBy(person.call, file)
  clock.advance(3 * 86_400_000 - 60_000)
  t.deepEqual(await opens(link), [true])
  clock.advance(60_000)
  await ends(t, link)
  t.deepEqual(await idsOf(person.get('/api/users/links')), [])
})

test('wrong links are throttled without affecting valid ones', async t => {
  const other = await bootForTest()
  t.teardown(() => other.stop())
  const person = await somebody(other, 'throttled')
  const link = await linkBy(person.call, await newFile(person))
  const wrong = await Promise.all(Array.from({ length: 20 }, async (_, at) => (await other.as()(`/files/links/wrong${at}`)).status))
  t.deepEqual(new Set(wrong), new Set([404]))
  const refused = await other.as()('/files/links/wrong20')
  t.is(refused.status, 429)
  t.regex(refused.headers.get('retry-after') ?? '', /^\d+$/)
  t.is((await other.as()('/files/links/wrong0')).status, 404, 'a repeated wrong link counts once')
  t.is((await other.as()(link.path)).status, 200)
  t.is((await other.as('a wrong key')('/api/me')).status, 401)
})
