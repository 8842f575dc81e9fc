import { AuthProviders, definePlugin, provide, StatusParts } from 'pounce/sdk'
import { config } from './config.ts'
import { OidcAccounts } from './oidc-accounts.ts'
import { OidcStatus } from './oidc-status.ts'

export const plugin = definePlugin({
  id: 'auth.oidc',
  summary: 'Sign-in with OpenID Connect providers, such as an institution, CILogon or ORCID.',
  config,
  provides: [provide(AuthProviders, OidcAccounts), provide(StatusParts, OidcStatus)],
})
