import test, { type ExecutionContext } from 'ava'
import { Invalid, Unavailable } from 'pounce/sdk'
import type { SignInSite } from 'pounce/sdk/kit'
import { redirectProviderContract } from 'pounce/sdk/testing'
import { Browser } from '../../../test/support/browser.ts'
import { FakeIssuer, fakeIssuer } from '../../../test/support/fake-issuer.ts'
import { callback, oidcWith } from '../../../test/support/oidc-provider.ts'
import { recordingLog } from '../../../test/support/recording-log.ts'

/** The callback address after a redirect to a provider, and the stored state. */
const away = async (site: SignInSite) => {
  const { url, kept } = await site.redirect(callback)
  const { trail } = await new Browser().go(url, next => next.href.startsWith(callback))
  return { back: trail.at(-1) as URL, kept }
}
const signIn = async (site: SignInSite) => {
  const { back, kept } = await away(site)
  return site.returned(back, kept)
}
const started = async (t: ExecutionContext, own: object = {}) => {
  const issuer = await fakeIssuer(t)
  return { issuer, ...(await oidcWith({ uni: { issuer: issuer.url, ...own } })) }
}

redirectProviderContract(test, async t => {
  const issuer = await fakeIssuer(t)
  const { site } = await oidcWith({ uni: { issuer: issuer.url } })
  const signIn = async (url: string) => {
    const { trail } = await new Browser().go(url, next => next.href.startsWith(callback))
    return trail.at(-1) as URL
  }
  return { site, callback, signIn, subject: 'ada' }
})

test('a sign-in returns the identity asserted by the provider, without an unverified email address', async t => {
  const { site, issuer } = await started(t)
  t.deepEqual(await signIn(site), {
    provider: 'uni',
    subject: 'ada',
    email: 'ada@example.org',
    isEmailVerified: true,
    firstName: 'Ada',
    lastName: 'Lovelace',
    groups: [],
  })
  issuer.person = { sub: 'x', name: 'Grace Brewster Hopper', email: 'g@example.org', email_verified: false, groups: ['a', 7, 'b'] }
  t.like(await signIn(site), { firstName: 'Grace Brewster', lastName: 'Hopper', email: '', isEmailVerified: false, groups: ['a', 'b'] })
})

test('a token with a wrong signature or with a wrong or missing claim is rejected', async t => {
  const { site, issuer } = await started(t)
  for (const signing of ['none', 'public', 'stranger'] as const) {
    issuer.signing = signing
    t.is(await signIn(site), undefined, signing)
  }
  issuer.signing = 'right'
  const seconds = Math.floor(Date.now() / 1000)
  const wrong = [
    ...[
      { iss: 'https://evil.example' },
      { iss: `${issuer.url}/` },
      { aud: 'another' },
      { aud: ['app', 'another'], azp: 'another' },
      { aud: [] },
    ],
    ...[{ exp: seconds - 60 }, { exp: undefined }, { exp: 'never' }, { nbf: seconds + 600 }, { iat: undefined }],
    ...[{ nonce: 'another' }, { nonce: undefined }, { nonce: '' }, { sub: undefined }, { sub: '' }, { sub: 7 }, { sub: 'x'.repeat(256) }],
  ]
  for (const spoil of wrong) {
    issuer.spoil = spoil
    t.is(await signIn(site), undefined, JSON.stringify(spoil))
  }
  issuer.spoil = {}
  t.truthy(await signIn(site))
})

test('an authorization response is valid once, and only for the browser and sign-in that started it', async t => {
  const { site } = await started(t)
  const [one, other] = [await away(site), await away(site)]
  t.is(await site.returned(one.back, other.kept), undefined)
  const mixed = new URL(one.back)
  mixed.searchParams.set('state', JSON.parse(other.kept).state)
  t.is(await site.returned(mixed, other.kept), undefined)
  const again = await away(site)
  t.truthy(await site.returned(again.back, again.kept))
  t.is(await site.returned(again.back, again.kept), undefined)
  const { state } = JSON.parse(other.kept)
  for (const query of [
    '',
    '?',
    `?state=${state}`,
    '?code=x',
    `?error=access_denied&state=${state}`,
    `?code=&state=${state}`,
    '?code=%00&state=%00',
  ])
    t.is(await site.returned(new URL(callback + query), other.kept), undefined, query)
})

test('a code issued to another client or redirect URI is refused', async t => {
  const { site, issuer } = await started(t)
  const { site: elsewhere } = await oidcWith({ uni: { issuer: issuer.url, clientId: 'other' } })
  const { back, kept } = await away(elsewhere)
  await t.throwsAsync(elsewhere.returned(back, kept), { instanceOf: Unavailable })
  const stolen = await away(site)
  const moved = new URL(stolen.back.href.replace('/callback', '/other'))
  t.is(await site.returned(moved, stolen.kept), undefined)
})

test('a response with a missing or wrong iss parameter is refused if the provider supports the parameter', async t => {
  const { site, issuer } = await started(t)
  issuer.metadata = { authorization_response_iss_parameter_supported: true }
  const { site: careful } = await oidcWith({ uni: { issuer: issuer.url } })
  const { back, kept } = await away(careful)
  t.is(await careful.returned(back, kept), undefined)
  const { back: second, kept: note } = await away(careful)
  second.searchParams.set('iss', 'https://evil.example')
  t.is(await careful.returned(second, note), undefined)
  const { back: third, kept: last } = await away(careful)
  third.searchParams.set('iss', issuer.url)
  t.truthy(await careful.returned(third, last))
  t.truthy(site)
})

test('claims missing in the ID token come from UserInfo; an address is accepted only if verified by the same source', async t => {
  const { site, issuer } = await started(t)
  issuer.person = { sub: 'ada', email: 'first@example.org' }
  issuer.userInfo = { email: 'second@example.org', email_verified: true, groups: ['curators'], given_name: 'Ada' }
  t.like(await signIn(site), { email: 'second@example.org', isEmailVerified: true, groups: ['curators'], firstName: 'Ada' })
  issuer.userInfo = { email_verified: true }
  t.is((await signIn(site))?.email, '')
  issuer.userInfo = { sub: 'somebody-else', email: 'second@example.org', email_verified: true }
  await t.throwsAsync(signIn(site), { instanceOf: Unavailable })
})

test('only members of the configured groups can sign in; the groups claim may be nested', async t => {
  const { site, issuer } = await started(t, { groupsClaim: 'realm_access.roles', onlyGroups: ['staff', 'students'], trustsEmail: true })
  for (const realm_access of [undefined, {}, { roles: [] }, { roles: ['guests'] }, { roles: 'staffs' }, 'staff', ['staff']]) {
    issuer.person = { sub: 'ada', email: 'ada@example.org', realm_access }
    t.is(await signIn(site), undefined, JSON.stringify(realm_access))
  }
  issuer.person = { sub: 'ada', email: 'ada@example.org', realm_access: { roles: ['students', 'more'] } }
  t.like(await signIn(site), { groups: ['students', 'more'], email: 'ada@example.org', isEmailVerified: true })
})

test('a new signing key of the provider is accepted as soon as it is published, and not before', async t => {
  const { site, issuer } = await started(t)
  t.truthy(await signIn(site))
  await issuer.rotate()
  t.truthy(await signIn(site))
  issuer.keysAnswer = response => response.writeHead(200, { 'content-type': 'application/json' }).end('{"keys":[]}')
  await issuer.rotate()
  t.is(await signIn(site), undefined)
})

test('if the keys cannot be fetched, are malformed or too large, the sign-in throws Unavailable', async t => {
  const answers: readonly NonNullable<FakeIssuer['keysAnswer']>[] = [
    response =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: [], more: 'x'.repeat(1 << 20) })),
    () => undefined,
    response => response.writeHead(500).end(),
    response => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    response => response.writeHead(200).end('no json'),
    response => response.writeHead(200, { 'content-type': 'application/json' }).end('{"keys":7}'),
  ]
  await Promise.all(
    answers.map(async (answer, at) => {
      const issuer = await fakeIssuer(t)
      const { site } = await oidcWith({ uni: { issuer: issuer.url } }, { timeoutMs: 2000 })
      issuer.keysAnswer = answer
      await t.throwsAsync(signIn(site), { instanceOf: Unavailable }, `${at}`)
    }),
  )
})

test('an unavailable provider throws Unavailable and is not queried again for a while; concurrent sign-ins share one query', async t => {
  const issuer = new FakeIssuer()
  await issuer.open()
  const { log, lines } = recordingLog()
  const { site } = await oidcWith({ uni: { issuer: issuer.url } }, {}, log)
  await issuer.close()
  const tries = await Promise.allSettled(Array.from({ length: 20 }, () => site.redirect(callback)))
  t.deepEqual([...new Set(tries.map(({ status }) => status))], ['rejected'])
  await t.throwsAsync(site.redirect(callback), { instanceOf: Unavailable })
  t.is(lines.length, 1)
})

test('only endpoints of the issuer and of allowed servers are queried', async t => {
  const other = await fakeIssuer(t)
  const { site, issuer } = await started(t)
  issuer.metadata = { jwks_uri: `${other.url}/keys` }
  await t.throwsAsync(signIn(site), { instanceOf: Unavailable })
  issuer.metadata = { token_endpoint: `${other.url}/token` }
  const { site: strict } = await oidcWith({ uni: { issuer: issuer.url } })
  await t.throwsAsync(signIn(strict), { instanceOf: Unavailable })
  t.deepEqual(other.requested, [])
  const { site: allowing } = await oidcWith({ uni: { issuer: issuer.url, alsoAt: [other.url] } })
  t.is(await signIn(allowing), undefined)
  t.deepEqual(other.requested, ['/token'])
})

test('provider metadata with a different issuer is refused', async t => {
  const { issuer, site } = await started(t)
  issuer.metadata = { issuer: 'https://other.example' }
  await t.throwsAsync(site.redirect(callback), { instanceOf: Unavailable })
})

test('unsafe settings abort the startup', async t => {
  const refused = async (name: string, own: object) =>
    t.throwsAsync(oidcWith({ [name]: own }), { instanceOf: Invalid }, JSON.stringify([name, own]))
  for (const name of ['userpass', 'ldap', 'providers', 'UNI', 'a b', '', '-', 'x'.repeat(41)])
    await refused(name, { issuer: 'https://a.example' })
  await refused('uni', { issuer: 'http://a.example' })
  await refused('uni', { issuer: 'http://127.0.0.1.evil.example' })
  await refused('uni', { issuer: 'https://a.example', alsoAt: ['http://b.example'] })
  await refused('uni', { issuer: 'https://a.example', scopes: ['email'] })
  await t.notThrowsAsync(oidcWith({ uni: { issuer: 'https://a.example' }, other: { issuer: 'http://localhost:1' } }))
})
