import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { Commands } from 'pounce/sdk'
import { bootForTest, FixedClock, type TestServer } from 'pounce/sdk/testing'
import { JobScene } from '../support/job-scene.ts'
import { basic, newPerson } from '../support/people.ts'
import { refusal } from '../support/scene.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

const rotate = (server: TestServer, options: Readonly<Record<string, string>> = {}) =>
  server
    .get(Commands)
    .all()
    .find(({ name }) => name === 'secret rotate')
    ?.run({ arguments: {}, options }, () => undefined)

const folderFor = async (t: ExecutionContext): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-rotation-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

const withJob = async (t: ExecutionContext, config: object = {}, folder?: string) => {
  const scene = await JobScene.open(config, folder)
  t.teardown(() => scene.server.stop())
  const ann = await scene.person()
  const job = await scene.submit(ann.person, 'files', ann.file)
  const key = await scene.keyOf(job)
  const status = async (shown = key) => (await scene.by(shown).get(`/api/files/${ann.file}`)).status
  return { scene, ann, job, key, status }
}

test('after a rotation, keys of running jobs stay valid for the overlap, and new keys are signed with the new secret', async t => {
  const { scene, job, key, status } = await withJob(t, { resources: { users: { secretOverlapHours: 2 } } })
  t.like(await rotate(scene.server), {
    rotated: true,
    previousValidUntil: new Date(scene.clock.now().getTime() + 2 * hourMs).toISOString(),
  })
  const newKey = await scene.keyOf(job)
  t.not(newKey, key)
  t.deepEqual([await status(), await status(newKey)], [200, 200])
  scene.clock.advance(2 * hourMs + 1000)
  t.deepEqual([await status(), await status(newKey)], [401, 200])
})

test('a rotation without overlap immediately invalidates keys signed with the previous secret', async t => {
  const { scene, status } = await withJob(t)
  await rotate(scene.server)
  await rotate(scene.server, { 'overlap-hours': '0' })
  t.is(await status(), 401)
  for (const hours of ['-1', '', ' ', '0x0', 'abc'])
    await t.throwsAsync(async () => rotate(scene.server, { 'overlap-hours': hours }), { message: /whole number/ }, hours)
})

test('a configured secret is replaced in the configuration, with the previous one in previousSecrets', async t => {
  const [secret, next] = ['the secret of before, with enough letters', 'the secret that follows, with enough letters']
  const folder = await folderFor(t)
  const { scene, key, ann } = await withJob(t, { resources: { users: { secret } } }, folder)
  await t.throwsAsync(async () => rotate(scene.server), { message: /resources\.users\.previousSecrets/ })
  await scene.server.stop()
  for (const [users, expected] of [
    [{ secret: next, previousSecrets: [secret] }, 200],
    [{ secret: next }, 401],
  ] as const) {
    const server = await bootForTest({
      t,
      folder,
      also: [scene.bus.plugin],
      clock: scene.clock,
      config: { access: { private: true }, resources: { users } },
    })
    t.is((await server.as(key)(`/api/files/${ann.file}`)).status, expected)
    await server.stop()
  }
})

test('a service key can be replaced while extractors still use the previous one', async t => {
  const [commKey, before] = ['the service key from now on', 'the service key of before']
  const server = await bootForTest({
    t,
    config: { access: { private: true }, resources: { users: { commKey, previousCommKeys: [before] } } },
  })
  const status = async (key: string) => (await server.as(key)('/api/datasets')).status
  t.deepEqual([await status(commKey), await status(before), await status('the service key of nobody')], [200, 200, 401])
})

test('keys have a maximum lifetime, including those created before it was set', async t => {
  const clock = new FixedClock()
  const folder = await folderFor(t)
  const first = await bootForTest({ clock, folder })
  const ann = await newPerson(first, 'ann')
  t.is((await ann.call('/api/me')).status, 200)
  await first.stop()
  clock.advance(10 * dayMs)
  const server = await bootForTest({ t, folder, clock, config: { resources: { users: { maxKeyDays: 30 } } } })
  const call = server.as(ann.key)
  const byPassword = () => server.as()('/api/users/keys', { headers: { authorization: basic(ann.email, ann.password) } })
  const listed = (await (await byPassword()).json()) as { name: string; created: string; expires: string }[]
  for (const { created, expires } of listed) t.is(Date.parse(expires) - Date.parse(created), 30 * dayMs)
  const on = (days: number) => new Date(clock.now().getTime() + days * dayMs).toISOString()
  t.like(await refusal(call(`/api/users/keys?name=long&expires=${on(31)}`, { method: 'POST' })), { status: 400, code: 'invalid' })
  t.is((await call(`/api/users/keys?name=short&expires=${on(29)}`, { method: 'POST' })).status, 200)
  t.is((await call('/api/users/keys?name=usual', { method: 'POST' })).status, 200)
  const usual = ((await (await byPassword()).json()) as { name: string; expires: string }[]).find(({ name }) => name === 'usual')
  t.is(usual?.expires, on(30))
  clock.advance(19 * dayMs)
  t.is((await call('/api/me')).status, 200)
  clock.advance(2 * dayMs)
  t.like(await refusal(call('/api/me')), { status: 401, message: 'The API key has expired' })
})
