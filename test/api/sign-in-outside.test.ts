import test from 'ava'
import { Users } from 'pounce/sdk'
import { FixedClock } from 'pounce/sdk/testing'
import { Browser } from '../support/browser.ts'
import { freePort } from '../support/free-port.ts'
import { outsideServer } from '../support/outside-server.ts'

const ends: (() => Promise<void>)[] = []
const place = await outsideServer({ teardown: end => void ends.push(end) })
test.after.always(async () => {
  for (const end of ends.reverse()) await end()
})
const { server, issuer } = place
const stored = async (id: string | undefined) => server.get(Users).get(id ?? '')
const accounts = async () => ((await (await server.as(server.admin.key)('/api/users?limit=1000')).json()) as unknown[]).length

test.serial('the ways to sign in are listed', async t => {
  const answer = await server.as()('/api/login/providers')
  t.is(answer.status, 200)
  t.deepEqual(await answer.json(), [
    { id: 'userpass', label: 'Email and password', kind: 'password', url: `${server.url}/api/login` },
    { id: 'uni', label: 'Example University', kind: 'site', url: `${server.url}/api/login/uni` },
  ])
})

test.serial('the first sign-in creates an account, the next one uses it, and the browser is redirected to the requested page', async t => {
  const person = { sub: 'new-1', email: 'New.One@Example.org', given_name: 'Zoë', family_name: 'Müller' }
  const { answer, browser } = await place.signIn(person)
  t.is(answer.status, 200)
  t.is(new URL(answer.url).pathname, '/api/me')
  const me = await place.whoIs(browser)
  t.like(me, { email: 'new.one@example.org', fullName: 'Zoë Müller' })
  const user = await stored(me?.id)
  t.like(user, { provider: 'uni', status: 'Active', passwordHash: null, identities: ['uni new-1'] })
  t.not(user?.lastLogin, null)
  const again = await place.signIn(person)
  t.is((await place.whoIs(again.browser))?.id, me?.id)
})

test.serial('names from a provider are well-formed Unicode, also if they are too long or damaged', async t => {
  for (const family_name of [`${'n'.repeat(199)}😀`, 'Half \ud83d', '😀']) {
    const { answer, browser } = await place.signIn({ sub: 'named', email: 'named@example.org', family_name })
    t.is(answer.status, 200)
    const { fullName = '' } = (await place.whoIs(browser)) ?? {}
    t.regex(fullName, /^Ada /)
    t.true(fullName.isWellFormed(), fullName)
  }
})

test.serial('the subject identifies an account, whose name and verified address follow its provider', async t => {
  const { browser } = await place.signIn({ sub: 'moves', email: 'before@example.org' })
  const me = await place.whoIs(browser)
  const now = await place.whoIs((await place.signIn({ sub: 'moves', email: 'after@example.org', family_name: 'King' })).browser)
  t.is(now?.id, me?.id)
  t.like(now, { email: 'after@example.org', fullName: 'Ada King' })
  await place.account('taken@example.org')
  const kept = await place.whoIs((await place.signIn({ sub: 'moves', email: 'taken@example.org' })).browser)
  t.like(kept, { id: me?.id ?? '', email: 'after@example.org' })
  const unchecked = await place.whoIs((await place.signIn({ sub: 'moves', email: 'free@example.org', email_verified: false })).browser)
  t.like(unchecked, { id: me?.id ?? '', email: 'after@example.org' })
})

test.serial('an unverified address neither opens nor creates an account', async t => {
  const id = await place.account('victim@example.org')
  const before = await accounts()
  for (const email_verified of [false, 'false', undefined, 1, 'yes']) {
    const { answer } = await place.signIn({ sub: `mallory ${email_verified}`, email: 'victim@example.org', email_verified })
    t.is(answer.status, 401)
    t.is((await place.signIn({ sub: 'mallory', email: 'mallory@example.org', email_verified })).answer.status, 401)
  }
  t.is(await accounts(), before)
  t.is((await stored(id))?.identities, undefined)
})

test.serial('an address that belonged to another subject of the provider gives no access', async t => {
  const { browser } = await place.signIn({ sub: 'first-owner', email: 'reused@example.org' })
  const me = await place.whoIs(browser)
  const { answer, browser: other } = await place.signIn({ sub: 'second-owner', email: 'reused@example.org' })
  t.is(answer.status, 401)
  t.is(await place.whoIs(other), undefined)
  t.deepEqual((await stored(me?.id))?.identities, ['uni first-owner'])
})

test.serial('an account of a provider cannot sign in with a password', async t => {
  await place.signIn({ sub: 'no-password', email: 'no-password@example.org' })
  for (const password of ['', 'null', 'undefined', 'a good password'])
    t.is((await server.as()('/api/login', { method: 'POST', json: { email: 'no-password@example.org', password } })).status, 401)
})

test.serial('many concurrent first sign-ins lead to one account', async t => {
  issuer.person = { sub: 'eager', email: 'eager@example.org', email_verified: true, name: 'Eager Beaver' }
  const browsers = Array.from({ length: 8 }, () => new Browser())
  const answers = await Promise.all(browsers.map(browser => place.signIn(undefined, browser)))
  t.deepEqual([...new Set(answers.map(({ answer }) => answer.status))], [200])
  const people = await Promise.all(browsers.map(browser => place.whoIs(browser)))
  t.is(new Set(people.map(me => me?.id)).size, 1)
  t.is(people[0]?.fullName, 'Eager Beaver')
})

test.serial('signing in starts a new session and ends the previous one of the browser', async t => {
  const { browser } = await place.signIn({ sub: 'rotates', email: 'rotates@example.org' })
  const before = browser.cookiesFor(new URL(server.url))
  await place.signIn(undefined, browser)
  t.not(browser.cookiesFor(new URL(server.url)), before)
  t.is((await server.as()('/api/me', { headers: { cookie: before } })).status, 401)
  t.truthy(await place.whoIs(browser))
})

test.serial('a callback is accepted once, and only from the browser that was redirected', async t => {
  issuer.person = { sub: 'replayed', email: 'replayed@example.org', email_verified: true }
  const browser = new Browser()
  const isBack = (url: URL) => url.pathname.endsWith('/callback')
  const { trail } = await browser.go(`${server.url}/api/login/uni`, isBack)
  const back = trail.at(-1) as URL
  const [stranger, begun] = [new Browser(), new Browser()]
  t.is((await stranger.go(back.href)).answer.status, 401)
  await begun.go(`${server.url}/api/login/uni`, isBack)
  t.is((await begun.go(back.href)).answer.status, 401)
  t.is(await place.whoIs(begun), undefined)
  const note = browser.cookiesFor(back)
  for (const forged of [
    `${note}A`,
    note.slice(0, -3),
    note.replace(/.{40}$/, end => (end[0] === 'A' ? 'B' : 'A') + end.slice(1)),
    'pounce_sign_in=AAAA',
    'pounce_sign_in=',
  ])
    t.is((await fetch(back, { redirect: 'manual', headers: { cookie: forged } })).status, 401)
  t.is((await browser.go(back.href, url => url.pathname === '/')).answer.status, 302)
  t.truthy(await place.whoIs(browser))
  t.is((await fetch(back, { redirect: 'manual', headers: { cookie: note } })).status, 401)
})

test.serial('a callback with the code of another sign-in, or with repeated or missing parameters, is refused', async t => {
  const isBack = (url: URL) => url.pathname.endsWith('/callback')
  const [one, other] = [new Browser(), new Browser()]
  const first = (await one.go(`${server.url}/api/login/uni`, isBack)).trail.at(-1) as URL
  const second = (await other.go(`${server.url}/api/login/uni`, isBack)).trail.at(-1) as URL
  const mixed = new URL(first)
  mixed.searchParams.set('code', second.searchParams.get('code') ?? '')
  t.is((await one.go(mixed.href)).answer.status, 401)
  const doubled = new URL(first)
  doubled.searchParams.append('state', 'another')
  t.is((await one.go(doubled.href)).answer.status, 401)
  for (const query of ['', '?error=access_denied', `?error=access_denied&state=${first.searchParams.get('state')}`])
    t.is((await one.go(`${first.origin}${first.pathname}${query}`)).answer.status, 401)
})

test.serial('returnTo accepts only paths of this server, and refuses others with 400', async t => {
  const elsewhere = [
    ...[
      '//evil.example',
      '/\\evil.example',
      '\\\\evil.example',
      'https://evil.example',
      'https:evil.example',
      'javascript:alert(1)',
      'evil',
    ],
    ...[
      '/\t/evil.example',
      '/\n/evil.example',
      '\t//evil.example',
      '/%0d%0aset-cookie:x=y',
      '/%09/evil.example',
      '/%5cevil.example',
      '/%2f/evil.example',
    ],
    ...[
      '/%2fevil.example',
      '/%252fevil.example',
      '/%25252fevil.example',
      '/%5C%5Cevil.example',
      '/%',
      '@evil.example',
      '/ x',
      '',
      '.evil.example',
    ],
  ]
  for (const returnTo of elsewhere)
    t.is((await server.as()(`/api/login/uni?returnTo=${encodeURIComponent(returnTo)}`, { redirect: 'manual' })).status, 400, returnTo)
  t.is((await server.as()('/api/login/uni?returnTo=/a/..//evil.example', { redirect: 'manual' })).status, 400)
  const wide = await new Browser().go(`${server.url}/api/login/uni?returnTo=${encodeURIComponent('/日本/é?ä=ö')}`, url =>
    url.pathname.startsWith('/%'),
  )
  t.is(wide.trail.at(-1)?.href, `${server.url}/%E6%97%A5%E6%9C%AC/%C3%A9?%C3%A4=%C3%B6`)
  for (const returnTo of ['/', '/datasets/1?tab=files#x', '/search?q=a//b%2Fc', '/search?q=100%25', '/%C3%A9']) {
    const { trail } = await new Browser().go(
      `${server.url}/api/login/uni?returnTo=${encodeURIComponent(returnTo)}`,
      url => url.href === server.url + returnTo,
    )
    t.is(trail.at(-1)?.href, server.url + returnTo)
  }
})

test.serial('the cookie of a sign-in is HttpOnly and SameSite=Lax, and the provider gets PKCE, state and nonce', async t => {
  const answer = await server.as()('/api/login/uni', { redirect: 'manual' })
  t.is(answer.status, 302)
  t.regex(answer.headers.get('set-cookie') ?? '', /^pounce_sign_in=[\w-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/)
  t.is(answer.headers.get('cache-control'), 'no-store')
  const sent = new URL(answer.headers.get('location') ?? '').searchParams
  t.like(Object.fromEntries(sent), {
    response_type: 'code',
    client_id: 'app',
    redirect_uri: `${server.url}/api/login/uni/callback`,
    scope: 'openid profile email',
    code_challenge_method: 'S256',
  })
  for (const name of ['state', 'nonce', 'code_challenge']) t.true((sent.get(name)?.length ?? 0) >= 43, name)
})

test.serial('browsers get a page when a sign-in was aborted, programs JSON', async t => {
  const begun = await server.as()('/api/login/uni', { redirect: 'manual' })
  t.is(begun.status, 302)
  const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state')
  const cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? ''
  const callback = `/api/login/uni/callback?error=access_denied&state=${state}`
  const page = await server.as()(callback, { headers: { cookie, accept: 'text/html,*/*;q=0.8' } })
  t.is(page.status, 401)
  t.is(page.headers.get('content-type'), 'text/html; charset=utf-8')
  t.regex(page.headers.get('content-security-policy') ?? '', /default-src 'none'/)
  t.regex(await page.text(), /<h1>Sign-in failed<\/h1>\n<p>Example University did not return your identity; sign in again<\/p>/)
  const unknown = await server.as()('/api/login/nobody', { headers: { accept: 'text/html' } })
  t.is(unknown.status, 404)
  t.is(unknown.headers.get('content-type'), 'text/html; charset=utf-8')
  const json = await server.as()(callback, { headers: { cookie } })
  t.is(json.status, 401)
  t.like(await json.json(), { code: 'not-signed-in' })
})

test.serial('an unconfigured provider is not found', async t => {
  for (const path of [
    '/api/login/nobody',
    '/api/login/userpass',
    '/api/login/nobody/callback',
    '/api/login/UNI',
    `/api/login/${'x'.repeat(100)}`,
  ])
    t.is((await server.as()(path)).status, 404, path)
})

test.serial('an unavailable provider affects its own sign-in only, until it is back', async t => {
  await place.account('local@example.org', 'a good password')
  const isBack = (url: URL) => url.pathname.endsWith('/callback')
  issuer.person = { sub: 'patient', email: 'patient@example.org', email_verified: true }
  const browser = new Browser()
  const back = (await browser.go(`${server.url}/api/login/uni`, isBack)).trail.at(-1) as URL
  await issuer.close()
  t.is((await browser.go(back.href)).answer.status, 503)
  await server.restart()
  const away = await server.as()('/api/login/uni', { redirect: 'manual' })
  t.is(away.status, 503)
  t.truthy(away.headers.get('retry-after'))
  t.is((await server.as()('/api/login', { method: 'POST', json: { email: 'local@example.org', password: 'a good password' } })).status, 200)
  await issuer.open()
})

test('a callback is accepted by another kernel, but not after ten minutes', async t => {
  const clock = new FixedClock()
  const own = await outsideServer(t, { clock, more: { http: { port: await freePort() } } })
  const isBack = (url: URL) => url.pathname.endsWith('/callback')
  const [early, late] = [new Browser(), new Browser()]
  own.issuer.person = { sub: 'far', email: 'far@example.org', email_verified: true }
  const soon = (await early.go(`${own.server.url}/api/login/uni`, isBack)).trail.at(-1) as URL
  const later = (await late.go(`${own.server.url}/api/login/uni`, isBack)).trail.at(-1) as URL
  await own.server.restart()
  await early.go(soon.href, url => url.pathname === '/')
  t.is((await own.whoIs(early))?.email, 'far@example.org')
  clock.advance(10 * 60_000)
  const { answer } = await late.go(later.href)
  t.is(answer.status, 401)
  t.regex(((await answer.json()) as { message: string }).message, /has expired/)
})
