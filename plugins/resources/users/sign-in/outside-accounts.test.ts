import test from 'ava'
import { type AuthProvider, AuthProviders, definePlugin, provide, Unavailable, Users, type VerifiedIdentity, wire } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { newPerson } from '../../../../test/support/people.ts'

const person: VerifiedIdentity = {
  provider: 'directory',
  subject: 'cn=ada',
  email: 'ada@example.org',
  isEmailVerified: false,
  firstName: 'Ada',
  lastName: 'Lovelace',
  groups: [],
}
let verified: Partial<VerifiedIdentity> | undefined

/** A directory that returns the identity set by a test. */
class Directory implements AuthProvider {
  readonly id = 'directory'

  async password(name: string, password: string): Promise<VerifiedIdentity | undefined> {
    return verified && password === 'theirs' ? { ...person, subject: name, ...verified } : undefined
  }
}
wire(Directory)
const directory = definePlugin({ id: 'auth.directory', summary: 'For tests.', provides: [provide(AuthProviders, Directory)] })
const plugins = ['documents.sqlite', 'access.policy', 'auth.local', 'resources.users', directory]
const server = await bootForTest({ plugins })
test.after.always(() => server.stop())

/** Signs in with the directory's identity; returns the account. */
const arrive = async (who: Partial<VerifiedIdentity>) => {
  verified = who
  const answer = await server.as()('/api/login', { method: 'POST', json: { email: 'typed', password: 'theirs' } })
  const { id = '' } = (await answer.json()) as { id?: string }
  return answer.status === 200 ? server.get(Users).get(id) : answer.status
}

test.serial('an email address is verified from the first sign-in that confirms it, and no unverified one replaces it', async t => {
  const first = await arrive({ subject: 'cn=ada' })
  t.like(first, { email: 'ada@example.org', isEmailUnverified: true, provider: 'directory', identities: ['directory cn=ada'] })
  const moved = await arrive({ subject: 'cn=ada', email: 'Ada.Lovelace@example.org', lastName: 'King' })
  t.like(moved, { email: 'ada.lovelace@example.org', isEmailUnverified: true, lastName: 'King' })
  const checked = await arrive({ subject: 'cn=ada', email: 'ada.lovelace@example.org', lastName: 'King', isEmailVerified: true })
  t.like(checked, { email: 'ada.lovelace@example.org', lastName: 'King' })
  t.is(typeof checked === 'object' ? checked.isEmailUnverified : 'no account', undefined)
  const back = await arrive({ subject: 'cn=ada', email: 'other@example.org' })
  t.like(back, { email: 'ada.lovelace@example.org', firstName: 'Ada', lastName: 'Lovelace' })
})

test.serial('values from a provider are validated like user input', async t => {
  for (const email of ['no address', 'a@b@c', 'a b@example.org', 'x\u0000@example.org', `${'x'.repeat(400)}@example.org`, ''])
    t.is(await arrive({ subject: 'cn=strange', email, isEmailVerified: true }), 401, email)
  const odd = await arrive({ subject: 'cn=odd', email: 'odd@example.org', firstName: ' Li\u0000ne\n ', lastName: 'x'.repeat(300) })
  t.like(odd, { firstName: 'Li ne', lastName: 'x'.repeat(200) })
  const named = await arrive({ subject: 'cn=odd', email: 'odd@example.org', firstName: '', lastName: '' })
  t.like(named, { firstName: 'Li ne' })
})

test.serial('neither the address of another user nor an account with a common subject prefix can be taken over', async t => {
  const { id } = await server.get(Users).create({ email: 'victim@example.org', firstName: 'V', lastName: 'V', status: 'Active' })
  t.is(await arrive({ subject: 'cn=mallory', email: 'Victim@example.org' }), 401)
  t.is((await server.get(Users).get(id))?.identities, undefined)
  const long = await arrive({ subject: 'cn=ada, more', email: 'longer@example.org' })
  t.like(long, { email: 'longer@example.org' })
})

test.serial('concurrent first sign-ins of one user create one account', async t => {
  verified = { subject: 'cn=crowd', email: 'crowd@example.org', isEmailVerified: true }
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => server.as()('/api/login', { method: 'POST', json: { email: 'typed', password: 'theirs' } })),
  )
  const ids = await Promise.all(answers.map(async answer => ((await answer.json()) as { id?: string }).id))
  t.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  t.is(new Set(ids).size, 1)
})

test.serial('of two users with the same address who sign in concurrently, one gets the account', async t => {
  verified = { email: 'both@example.org', isEmailVerified: true }
  const at = (email: string) => server.as()('/api/login', { method: 'POST', json: { email, password: 'theirs' } })
  const statuses = (await Promise.all(['cn=one', 'cn=two', 'cn=one', 'cn=two'].map(at))).map(({ status }) => status)
  t.deepEqual(statuses.toSorted(), [200, 200, 401, 401])
  const user = await server.get(Users).byEmail('both@example.org')
  t.is(user?.identities?.length, 1)
})

test('passwords of local accounts cannot be guessed without limit while a directory is unavailable', async t => {
  class UnreachableDirectory implements AuthProvider {
    readonly id = 'unreachable'

    async password(): Promise<undefined> {
      throw new Unavailable('The directory is unreachable')
    }
  }
  wire(UnreachableDirectory)
  const unreachable = definePlugin({
    id: 'auth.unreachable',
    summary: 'For tests.',
    provides: [provide(AuthProviders, UnreachableDirectory)],
  })
  for (const providers of [
    [unreachable, 'auth.local'],
    ['auth.local', unreachable],
  ]) {
    const own = await bootForTest({
      t,
      plugins: ['documents.sqlite', 'access.policy', ...providers, 'resources.users'],
      config: { resources: { users: { failuresPerAccount: 3 } } },
    })
    const local = await newPerson(own, 'local')
    const status = async (email: string, password: string) =>
      (await own.as()('/api/login', { method: 'POST', json: { email, password } })).status
    t.is(await status(local.email, local.password), 200)
    for (const guess of ['first guess', 'second guess', 'third guess'])
      t.is(await status(local.email, guess), 503, 'the directory may know it')
    t.is(await status(local.email, local.password), 429)
    for (const guess of ['first guess', 'second guess', 'third guess']) t.is(await status('nobody@example.org', guess), 503)
    t.is(await status('nobody@example.org', 'fourth guess'), 429, 'an unknown account gets the same responses')
  }
})

test('users of a directory can sign in after an outage, however often they tried meanwhile', async t => {
  let isAvailable = true
  class FlakyDirectory implements AuthProvider {
    readonly id = 'flaky'

    async password(name: string, password: string): Promise<VerifiedIdentity | undefined> {
      if (!isAvailable) throw new Unavailable('The directory is unavailable')
      return password === 'theirs' ? { ...person, provider: 'flaky', subject: name, email: `${name}@example.org` } : undefined
    }
  }
  wire(FlakyDirectory)
  const flaky = definePlugin({ id: 'auth.flaky', summary: 'For tests.', provides: [provide(AuthProviders, FlakyDirectory)] })
  const limits = { failuresPerAccount: 2, failuresPerAddress: 8 }
  const own = await bootForTest({
    t,
    plugins: ['documents.sqlite', 'access.policy', 'auth.local', 'resources.users', flaky],
    config: { resources: { users: limits } },
  })
  const local = await newPerson(own, 'local')
  const statuses = async (email: string, passwords: readonly string[]) => {
    const found: number[] = []
    for (const password of passwords) found.push((await own.as()('/api/login', { method: 'POST', json: { email, password } })).status)
    return found
  }
  isAvailable = false
  for (const name of ['ada', 'ida', 'eva']) t.deepEqual(await statuses(name, ['theirs', 'theirs', 'theirs']), [503, 503, 429])
  t.deepEqual(await statuses(local.email, ['guess', 'guess', local.password]), [503, 503, 429])

  isAvailable = true
  for (const name of ['ada', 'new']) t.deepEqual(await statuses(name, ['theirs']), [200], name)
  t.deepEqual(await statuses(local.email, [local.password]), [429])
  t.deepEqual(await statuses('ida', ['guess', 'guess', 'theirs']), [429, 429, 429], 'passwords that the directory rejects are counted')
  t.deepEqual(await statuses('ada', ['theirs']), [200])
})
