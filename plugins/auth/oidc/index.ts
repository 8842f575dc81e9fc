import { AuthProviders, definePlugin, provide, StatusParts } from 'pounce/sdk'
import { config } from './config.ts'
import { OidcStatus } from './issuers.ts'
import { OidcAccounts } from './oidc-accounts.ts'

export const plugin = definePlugin({
  id: 'auth.oidc',
  summary: 'Sign-in with OpenID Connect providers, such as an institution, CILogon or ORCID.',
  config,
  provides: [provide(AuthProviders, OidcAccounts), provide(StatusParts, OidcStatus)],
})
