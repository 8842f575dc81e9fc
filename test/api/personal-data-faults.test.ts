import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { Commands, definePlugin, Invalid, type PersonalData, PersonalDataSources, provide, Users, wire } from 'pounce/sdk'
import { bootForTest, FixedClock, type TestServer } from 'pounce/sdk/testing'
import { unzip } from '../support/archives.ts'
import { byCookie, newPerson, signIn } from '../support/people.ts'
import { refusal } from '../support/scene.ts'

const run = (server: TestServer, name: string, args: Record<string, string>, options: Record<string, string> = {}) => {
  const command = server
    .get(Commands)
    .all()
    .find(each => each.name === name)
  if (!command) throw new Error(`there is no command ${name}`)
  return command.run({ arguments: args, options }, () => undefined)
}

test('an erasure is retried until every contributor has succeeded', async t => {
  let failures = 2
  class Flaky implements PersonalData {
    readonly name = 'flaky'
    readonly summary = 'Nothing.'
    readonly collections = []
    async *export() {
      yield* []
    }
    async erase() {
      if (failures > 0) {
        failures -= 1
        throw new Error('the store is unavailable')
      }
    }
  }
  wire(Flaky)
  const flaky = definePlugin({ id: 'test.flaky', summary: 'Fails.', provides: [provide(PersonalDataSources, Flaky)] })
  const server = await bootForTest({ t, also: [flaky] })
  const ada = await newPerson(server, 'ada')
  t.is((await ada.call(`/api/users/${ada.id}`, { method: 'DELETE' })).status, 202)
  t.is((await ada.call('/api/me')).status, 401, 'locked at once')
  t.is((await server.as(server.admin.key)(`/api/users/${ada.id}`, { method: 'DELETE' })).status, 202, 'repeated while in progress')
  await server.drained(60_000)
  t.is(failures, 0)
  t.like(await server.get(Users).get(ada.id), {
    firstName: 'Deleted',
    lastName: 'User',
    email: `erased-${ada.id}@erased.invalid`,
    status: 'Inactive',
  })
})

test('commands export and erase an account by its email address', async t => {
  const server = await bootForTest({ t })
  const ada = await newPerson(server, 'ada')
  const to = join(server.folder, 'ada.zip')
  await run(server, 'user export', { email: ada.email }, { to })
  t.true(String((await unzip(await readFile(to))).get('profile.json')).includes(ada.email))
  await t.throwsAsync(async () => run(server, 'user export', { email: ada.email }, { to }), { instanceOf: Invalid })
  await t.throwsAsync(async () => run(server, 'user erase', { email: 'nobody@example.org' }), { instanceOf: Invalid })
  await run(server, 'user erase', { email: ada.email })
  await server.drained()
  t.is(await server.get(Users).byEmail(ada.email), undefined)
})

test('export and erasure require step-up of an old session and refuse a limited key', async t => {
  const clock = new FixedClock()
  const server = await bootForTest({ t, clock })
  const ada = await newPerson(server, 'ada')
  const session = byCookie(server, await signIn(server, ada.email, ada.password))
  clock.advance(16 * 60_000)
  const requests = [
    [`/api/users/${ada.id}/export`, 'POST'],
    [`/api/users/${ada.id}`, 'DELETE'],
  ] as const
  for (const [path, method] of requests) t.like(await refusal(session(path, { method })), { status: 403, code: 'step-up-required' })
  const made = await ada.call('/api/users/keys?name=narrow&verbs=read&verbs=write&verbs=delete&verbs=manage', { method: 'POST' })
  const { key } = (await made.json()) as { key: string }
  for (const [path, method] of requests) t.is((await refusal(server.as(key)(path, { method }))).status, 403)
  t.is((await ada.call('/api/me')).status, 200)
})
