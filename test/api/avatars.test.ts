import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { newPerson } from '../support/people.ts'

const server = await bootForTest({ plugins: ['documents.sqlite', 'access.policy', 'auth.local', 'resources.users'] })
test.after.always(() => server.stop())

const avatarOf = async (names: object): Promise<string> => {
  const person = await newPerson(server, 'someone')
  const answer = await server.as(server.admin.key)(`/api/users/${person.id}`, { method: 'PUT', json: names })
  return ((await answer.json()) as { avatar: string }).avatar
}

test('people without a picture have one with their initials, drawn here, of the same colour each time', async t => {
  const avatar = await avatarOf({ firstName: 'Zoë', lastName: 'Müller' })
  t.true(avatar.startsWith(`${server.url}/api/avatars/ZM-`), avatar)
  t.is(avatar, await avatarOf({ firstName: 'Zoë', lastName: 'Müller' }), 'nothing of the address or the account is in it')
  const answer = await fetch(avatar)
  t.is(answer.status, 200)
  t.is(answer.headers.get('content-type'), 'image/svg+xml')
  t.is(answer.headers.get('x-content-type-options'), 'nosniff')
  t.regex(answer.headers.get('content-security-policy') ?? '', /sandbox; default-src 'none'/)
  t.regex(await answer.text(), /^<svg [^>]*>.*>ZM<\/text><\/svg>$/)
  const etag = answer.headers.get('etag') ?? ''
  t.is((await fetch(avatar, { headers: { 'if-none-match': etag } })).status, 304)
})

test('names of other scripts, and names without letters, have a picture as well', async t => {
  for (const [firstName, lastName, initials] of [
    ['観測', '山', '観山'],
    ['<script>', '"&', 'S'],
    ['ßrgl', '𝒜', 'S𝒜'],
    ['--', '!', ''],
  ] as const) {
    const avatar = await avatarOf({ firstName, lastName })
    t.true(decodeURIComponent(avatar).includes(`/api/avatars/${initials}-`), avatar)
    const answer = await fetch(avatar)
    t.is(answer.status, 200)
    t.notRegex(await answer.text(), /<script|&(?!amp)/)
  }
})

test('an address that says no picture has none', async t => {
  for (const picture of ['', 'ABC-1', 'A', '%3Cb%3E-1', 'AB-16', 'AB--1', 'AB-1%0A', 'x'.repeat(5000)])
    t.true([400, 404].includes((await fetch(`${server.url}/api/avatars/${picture}`)).status), picture.slice(0, 20))
})

test('responses about people contain nothing of Gravatar', async t => {
  const person = await newPerson(server, 'private')
  for (const path of ['/api/me', `/api/users/${person.id}`]) t.notRegex(await (await person.call(path)).text(), /gravatar/i)
})
