import type { AuthProvider } from '../ports/auth.ts'
import { contractTest, type TestContext, type TestRunner } from './any-runner.ts'
import { timingDifference } from './timing-difference.ts'

/** An account at the provider under test. */
export interface KnownAccount {
  readonly email: string
  readonly password: string
  readonly firstName: string
  readonly lastName: string
}

/** A provider with password sign-in and one account, whose password contains an accented letter. */
export interface PasswordSubject {
  readonly provider: AuthProvider
  readonly account: KnownAccount
}

type Make<T> = (t: TestContext) => Promise<T>

const passwordOf = (provider: AuthProvider, email: string, password: string) => {
  if (!provider.password) throw new Error(`${provider.id} takes no passwords`)
  return provider.password(email, password)
}

/** The contract of AuthProviders with password sign-in. */
export const passwordProviderContract = (runner: TestRunner, make: Make<PasswordSubject>): void => {
  const test = contractTest(runner)
  test('password: the correct one returns the identity, with this provider', async t => {
    const { provider, account } = await make(t)
    const identity = await passwordOf(provider, account.email, account.password)
    t.is(identity?.provider, provider.id)
    t.is(identity?.email.toLowerCase(), account.email.toLowerCase())
    t.is(identity?.firstName, account.firstName)
    t.is(identity?.lastName, account.lastName)
    t.true((identity?.subject.length ?? 0) > 0)
    t.is(typeof identity?.isEmailVerified, 'boolean', 'isEmailVerified')
    const groups = identity?.groups ?? []
    t.true(Array.isArray(groups) && groups.every(group => typeof group === 'string'), 'groups: absent, or a list of names')
  })

  test('password: the subject is the same each time, whatever the case of the email', async t => {
    const { provider, account } = await make(t)
    const [one, other] = await Promise.all(
      [account.email, account.email.toUpperCase()].map(email => passwordOf(provider, email, account.password)),
    )
    t.truthy(one)
    t.is(one?.subject, other?.subject)
  })

  test('password: it may be typed in composed or decomposed letters', async t => {
    const { provider, account } = await make(t)
    for (const form of ['NFC', 'NFD']) t.truthy(await passwordOf(provider, account.email, account.password.normalize(form)))
  })

  test('password: anything else is refused without an error', async t => {
    const { provider, account } = await make(t)
    const { email, password } = account
    const wrong: readonly (readonly [string, string])[] = [
      [email, ''],
      [email, `${password} `],
      [email, password.toUpperCase()],
      [email, password.slice(0, -1)],
      [email, `${password}\u0000`],
      [email, 'x'.repeat(100_000)],
      [email, '*'],
      ['', password],
      ['*', password],
      [`${email})(cn=*`, password],
      [`${email}' or '1'='1`, password],
      ['unknown@example.org', password],
      ['unknown@example.org', ''],
      [`${'x'.repeat(10_000)}@example.org`, password],
      ['\u0000', password],
    ]
    for (const [name, guess] of wrong)
      t.is(await passwordOf(provider, name, guess), undefined, `${name.slice(0, 40)} / ${guess.slice(0, 40)}`)
  })

  test.serial('password: an unknown account takes as long as a wrong password', async t => {
    const { provider, account } = await make(t)
    const refused = async (email: string) => t.is(await passwordOf(provider, email, 'a wrong password'), undefined)
    await refused('unknown@example.org')
    t.is(await timingDifference({ unknown: () => refused('unknown@example.org'), wrong: () => refused(account.email) }), undefined)
  })

  test('password: concurrent sign-ins are each answered correctly', async t => {
    const { provider, account } = await make(t)
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => passwordOf(provider, account.email, at % 2 ? account.password : `wrong password ${at}`)),
    )
    t.deepEqual(
      answers.map(answer => answer !== undefined),
      answers.map((_, at) => at % 2 === 1),
    )
  })
}

/** A provider that accepts bearer tokens, with one valid token and several similar invalid ones. */
export interface BearerSubject {
  readonly provider: AuthProvider
  readonly token: string
  readonly subject: string
  /** The provider in the identity, if it is that of a site instead of the provider's own id. */
  readonly vouchedBy?: string
  /** Expired, signed with another key, issued for another audience … */
  readonly refused: readonly string[]
}

/** The contract of AuthProviders that accept bearer tokens. */
export const bearerProviderContract = (runner: TestRunner, make: Make<BearerSubject>): void => {
  const test = contractTest(runner)
  const ask = (provider: AuthProvider, token: string) => {
    if (!provider.bearer) throw new Error(`${provider.id} takes no tokens`)
    return provider.bearer(token)
  }

  test('bearer: a valid token returns the identity, with this provider', async t => {
    const { provider, token, subject, vouchedBy = provider.id } = await make(t)
    const identity = await ask(provider, token)
    t.is(identity?.provider, vouchedBy)
    t.is(identity?.subject, subject)
  })

  test('bearer: anything else is refused without an error', async t => {
    const { provider, token, refused } = await make(t)
    for (const wrong of [...refused, '', 'x', '..', `${token}x`, token.slice(0, -2), '\u0000', 'x'.repeat(100_000)])
      t.is(await ask(provider, wrong), undefined, wrong.slice(0, 40))
  })
}
