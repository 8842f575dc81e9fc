import type { AuthProvider, SignInSite } from '../ports/auth.ts'
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

/** A site of a provider where users sign in through a redirect, and a user who does. */
export interface RedirectSubject {
  readonly site: SignInSite
  /** The callback URL that the provider accepts. */
  readonly callback: string
  /** Signs the user in at the URL of `redirect`, as in a browser; resolves to the callback URL with the query that the site returns the browser with. */
  signIn(url: string): Promise<URL>
  readonly subject: string
}

/** The contract of the `sites` of AuthProviders. */
export const redirectProviderContract = (runner: TestRunner, make: Make<RedirectSubject>): void => {
  const test = contractTest(runner)
  /** A user on the way back from the site. */
  const started = async ({ site, callback, signIn }: RedirectSubject) => {
    const { url, kept } = await site.redirect(callback)
    return { back: await signIn(url), kept }
  }

  test('redirect: the site has an id that fits in a path, and a label', async t => {
    const { site } = await make(t)
    t.regex(site.id, /^[a-z0-9]+(?:-[a-z0-9]+)*$/)
    t.true(site.label.trim() !== '', 'label')
  })

  test('redirect: a returning user is identified, with the site as provider', async t => {
    const subject = await make(t)
    const { back, kept } = await started(subject)
    t.true(back.href.startsWith(subject.callback), 'the browser returns to the callback')
    const identity = await subject.site.returned(back, kept)
    t.is(identity?.provider, subject.site.id)
    t.is(identity?.subject, subject.subject)
    t.is(typeof identity?.isEmailVerified, 'boolean', 'isEmailVerified')
    const again = await started(subject)
    t.is((await subject.site.returned(again.back, again.kept))?.subject, subject.subject, 'signed in again')
  })

  test('redirect: each sign-in has its own URL and state, and the URL does not contain the state', async t => {
    const { site, callback } = await make(t)
    const [one, other] = [await site.redirect(callback), await site.redirect(callback)]
    t.not(one.url, other.url)
    t.not(one.kept, other.kept)
    t.true(one.kept.length >= 16, 'the state cannot be guessed')
    t.false(decodeURIComponent(one.url).includes(one.kept))
  })

  test('redirect: a return is valid once, in the browser that started the sign-in', async t => {
    const subject = await make(t)
    const { site } = subject
    const [one, other] = [await started(subject), await started(subject)]
    t.is(await site.returned(one.back, other.kept), undefined, 'in another browser')
    const { back, kept } = await started(subject)
    t.truthy(await site.returned(back, kept))
    t.is(await site.returned(back, kept), undefined, 'a second time')
  })

  test('redirect: a return without the query of the site, or with a changed one, is refused without an error', async t => {
    const subject = await make(t)
    const { site, callback } = subject
    const { kept } = await site.redirect(callback)
    for (const query of ['', '?', '?code=x', '?error=access_denied', '?code=%00&state=%00'])
      t.is(await site.returned(new URL(`${callback}${query}`), kept), undefined, query)
    const { back, kept: state } = await started(subject)
    for (const [name, value] of [...back.searchParams]) back.searchParams.set(name, `${value}x`)
    t.is(await site.returned(back, state), undefined, 'changed')
  })
}
