import test from 'ava'
import type { SignInSite } from 'pounce/sdk/kit'
import { bearerProviderContract, liveTests } from 'pounce/sdk/testing'
import { Browser } from '../../../test/support/browser.ts'
import { callback, oidcWith } from '../../../test/support/oidc-provider.ts'

/** The issuer started by `oidc.sh`; the comment in that script lists the accounts. */
const { test: live, url } = liveTests(test, 'OIDC')

const audience = 'urn:svc:api'
const uni = (own: object = {}) => ({
  issuer: url('OIDC'),
  clientId: 'svc-test',
  clientSecret: 'svc-secret',
  scopes: ['openid', 'profile', 'email', 'groups'],
  ...own,
})

const away = async (site: SignInSite) => {
  const { url: there, kept } = await site.redirect(callback)
  const { trail } = await new Browser().go(there, next => next.href.startsWith(callback))
  return { back: trail.at(-1) as URL, kept }
}
const signIn = async (site: SignInSite) => {
  const { back, kept } = await away(site)
  return site.returned(back, kept)
}

/** An access token of client credentials. */
const machineToken = async (): Promise<string> => {
  const answer = await fetch(`${url('OIDC')}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from('svc-machine:svc-secret').toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource: audience, scope: 'api' }),
  })
  return ((await answer.json()) as { access_token: string }).access_token
}

bearerProviderContract(live, async () => {
  const { accounts } = await oidcWith({ uni: uni({ audience }) })
  const token = await machineToken()
  const [head = '', body = '', signature = ''] = token.split('.')
  const spoiled = (claims: object) =>
    `${head}.${Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(body, 'base64url').toString()), ...claims })).toString('base64url')}.${signature}`
  return {
    provider: accounts,
    vouchedBy: 'uni',
    token,
    subject: 'svc-machine',
    refused: [spoiled({ sub: 'alice' }), spoiled({ exp: 4_000_000_000 }), `${head}.${body}.`],
  }
})

live('a user signs in through a client with a secret and through a public client', async t => {
  const alice = {
    provider: 'uni',
    subject: 'alice',
    email: 'alice@example.org',
    isEmailVerified: true,
    firstName: 'Alice',
    lastName: 'Adams',
    groups: ['curators'],
  }
  t.deepEqual(await signIn((await oidcWith({ uni: uni() })).site), alice)
  const { site: open } = await oidcWith({
    uni: { issuer: url('OIDC'), clientId: 'svc-public', scopes: ['openid', 'profile', 'email', 'groups'] },
  })
  t.deepEqual(await signIn(open), alice)
})

live('only members of the configured groups can sign in', async t => {
  const { site } = await oidcWith({ uni: uni({ onlyGroups: ['curators'] }) })
  t.is((await signIn(site))?.subject, 'alice')
  const { site: asBob } = await oidcWith({ uni: uni({ onlyGroups: ['curators'], parameters: { login_hint: 'bob' } }) })
  t.is(await signIn(asBob), undefined)
  const { site: anybody } = await oidcWith({ uni: uni({ parameters: { login_hint: 'bob' } }) })
  t.like(await signIn(anybody), { subject: 'bob', groups: [] })
})

live('a code is valid once, and only for the browser and sign-in it was issued to', async t => {
  const { site } = await oidcWith({ uni: uni() })
  const [one, other] = [await away(site), await away(site)]
  t.is(await site.returned(one.back, other.kept), undefined)
  t.truthy(await site.returned(other.back, other.kept))
  t.is(await site.returned(other.back, other.kept), undefined)
})

live('a user unknown to the provider gets no identity', async t => {
  const { site } = await oidcWith({ uni: uni({ parameters: { login_hint: 'nobody' } }) })
  t.is(await signIn(site), undefined)
})
