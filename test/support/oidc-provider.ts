import type { Log } from 'pounce/sdk'
import type { SignInSite } from 'pounce/sdk/kit'
import { silent } from 'pounce/sdk/testing'
import type { OidcConfig } from '../../plugins/auth/oidc/config.ts'
import { Issuers } from '../../plugins/auth/oidc/issuers.ts'
import { OidcAccounts } from '../../plugins/auth/oidc/oidc-accounts.ts'
import { GuardedFetch } from '../../plugins/net/fetch/guarded-fetch.ts'

type Provider = OidcConfig['providers'][string]

/** The redirect URI. */
export const callback = 'http://127.0.0.1:9999/callback'

const provider: Provider = {
  label: 'Example University',
  issuer: '',
  clientId: 'app',
  clientAuthentication: 'basic',
  scopes: ['openid', 'profile', 'email'],
  parameters: {},
  alsoAt: [],
  emailClaim: 'email',
  firstNameClaim: 'given_name',
  lastNameClaim: 'family_name',
  groupsClaim: 'groups',
  onlyGroups: [],
  trustsEmail: false,
}

/** Starts `auth.oidc` with these providers; resolves to the sign-in site of the first one. The default `clientId` is that of `FakeIssuer`. */
export const oidcWith = async (
  providers: Readonly<Record<string, Partial<Provider>>>,
  settings: Partial<OidcConfig> = {},
  log: Log = silent,
): Promise<{ readonly accounts: OidcAccounts; readonly site: SignInSite }> => {
  const whole = Object.fromEntries(
    Object.entries(providers).map(([name, own]) => [
      name,
      { ...provider, ...(own.clientId === undefined ? { clientSecret: 'secret' } : {}), ...own },
    ]),
  )
  const config: OidcConfig = { providers: whole, algorithms: ['RS256', 'ES256'], timeoutMs: 10_000, refetchKeysAfterMs: 0, ...settings }
  const issuers = new Issuers(config, new GuardedFetch({ allow: [] }), log)
  await issuers.start()
  const accounts = new OidcAccounts(issuers, log)
  return { accounts, site: accounts.sites[0] as SignInSite }
}
