import test from 'ava'
import { Unavailable } from 'pounce/sdk'
import { bearerProviderContract } from 'pounce/sdk/testing'
import { Browser } from '../../../test/support/browser.ts'
import { fakeIssuer } from '../../../test/support/fake-issuer.ts'
import { callback, oidcWith } from '../../../test/support/oidc-provider.ts'
import { recordingLog } from '../../../test/support/recording-log.ts'

const audience = 'https://data.example.org'
const seconds = () => Math.floor(Date.now() / 1000)

bearerProviderContract(test, async t => {
  const issuer = await fakeIssuer(t)
  const stranger = await fakeIssuer(t)
  const { accounts } = await oidcWith({ uni: { issuer: issuer.url, audience } })
  const good = { sub: 'ada', aud: audience }
  const spoiled = [
    ...[{ aud: 'another' }, { aud: undefined }, { aud: ['another'] }, { iss: 'https://evil.example' }, { iss: undefined }],
    ...[{ exp: seconds() - 60 }, { exp: undefined }, { nbf: seconds() + 600 }, { sub: undefined }, { sub: '' }],
  ]
  return {
    provider: accounts,
    vouchedBy: 'uni',
    token: await issuer.token(good),
    subject: 'ada',
    refused: await Promise.all([
      ...spoiled.map(spoil => issuer.token({ ...good, ...spoil })),
      ...(['none', 'public', 'stranger'] as const).map(signing => issuer.token(good, signing)),
      ...[{ alg: 'RS512' }, { crit: ['exp'] }, { kid: 'unknown' }].map(header => issuer.token(good, 'right', header).catch(() => 'x')),
      stranger.token(good),
      stranger.token({ ...good, iss: issuer.url }),
    ]),
  }
})

test('tokens are refused when no audience is configured', async t => {
  const issuer = await fakeIssuer(t)
  const { accounts } = await oidcWith({ uni: { issuer: issuer.url } })
  for (const aud of ['app', 'undefined', '', undefined]) t.is(await accounts.bearer(await issuer.token({ sub: 'ada', aud })), undefined)
  t.deepEqual(issuer.requested, [])
})

test('a token identifies its account; its groups and addresses are checked as at sign-in', async t => {
  const issuer = await fakeIssuer(t)
  const { accounts } = await oidcWith({ uni: { issuer: issuer.url, audience, onlyGroups: ['staff'] } })
  const of = async (claims: object) => accounts.bearer(await issuer.token({ sub: 'ada', aud: [audience, 'another'], ...claims }))
  t.is(await of({}), undefined)
  t.is(await of({ groups: ['guests'] }), undefined)
  t.like(await of({ groups: ['staff'] }), { provider: 'uni', subject: 'ada', email: '', isEmailVerified: false, groups: ['staff'] })
  t.like(await of({ groups: 'staff', email: 'ada@example.org', email_verified: true }), { email: 'ada@example.org', isEmailVerified: true })
})

test('a token is attributed to the provider that issued it', async t => {
  const [one, other] = [await fakeIssuer(t), await fakeIssuer(t)]
  const { accounts } = await oidcWith({ one: { issuer: one.url, audience }, other: { issuer: `${other.url}/`.slice(0, -1), audience } })
  t.is((await accounts.bearer(await one.token({ sub: 'ada', aud: audience })))?.provider, 'one')
  t.is((await accounts.bearer(await other.token({ sub: 'ada', aud: audience })))?.provider, 'other')
})

test('forged tokens cause only occasional requests for the keys of the provider', async t => {
  const issuer = await fakeIssuer(t)
  const { accounts } = await oidcWith({ uni: { issuer: issuer.url, audience } }, { refetchKeysAfterMs: 60_000 })
  for (let at = 0; at < 20; at += 1)
    t.is(await accounts.bearer(await issuer.token({ sub: 'ada', aud: audience }, 'right', { kid: `unknown ${at}` })), undefined)
  t.is(issuer.requested.filter(path => path === '/keys').length, 1)
})

test('while the provider is unavailable, tokens signed with known keys are accepted, and forged ones cause a single request', async t => {
  const issuer = await fakeIssuer(t)
  const { accounts } = await oidcWith({ uni: { issuer: issuer.url, audience } })
  t.truthy(await accounts.bearer(await issuer.token({ sub: 'ada', aud: audience })))
  issuer.keysAnswer = response => response.writeHead(500).end()
  const before = issuer.requested.length
  // Signed in advance: on a slow machine this takes as long as the pause between requests to the provider.
  const forged: string[] = []
  for (let at = 0; at < 20; at += 1) forged.push(await issuer.token({ sub: 'ada', aud: audience }, 'right', { kid: `unknown ${at}` }))
  for (const token of forged) await t.throwsAsync(accounts.bearer(token), { instanceOf: Unavailable })
  t.is(issuer.requested.length, before + 1)
  t.truthy(await accounts.bearer(await issuer.token({ sub: 'ada', aud: audience })))
})

test('logs contain neither tokens nor their claims', async t => {
  const issuer = await fakeIssuer(t)
  const { log, lines } = recordingLog()
  const { accounts, site } = await oidcWith({ uni: { issuer: issuer.url, audience } }, {}, log)
  const over = await issuer.token({ sub: 'secret-subject', aud: audience, exp: seconds() - 60, email: 'secret@example.org' })
  t.is(await accounts.bearer(over), undefined)
  issuer.person = { sub: 'secret-subject', email: 'secret@example.org', email_verified: true }
  issuer.spoil = { aud: 'another' }
  const { url, kept } = await site.redirect(callback)
  const back = (await new Browser().go(url, next => next.href.startsWith(callback))).trail.at(-1) as URL
  t.is(await site.returned(back, kept), undefined)
  t.is(lines.length, 2)
  for (const secret of [
    'secret-subject',
    'secret@',
    over,
    over.split('.')[1] ?? '',
    back.searchParams.get('code') ?? '',
    JSON.parse(kept).codeVerifier,
  ])
    t.false(JSON.stringify(lines).includes(secret))
})

test('tokens of an unavailable provider are reported as unavailable, not as invalid', async t => {
  const issuer = await fakeIssuer(t)
  const { accounts } = await oidcWith({ uni: { issuer: issuer.url, audience } })
  const token = await issuer.token({ sub: 'ada', aud: audience })
  await issuer.close()
  await t.throwsAsync(accounts.bearer(token), { instanceOf: Unavailable })
  t.is(await accounts.bearer('a.b.c'), undefined)
  await issuer.open()
})
