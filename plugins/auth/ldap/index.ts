import { AuthProviders, definePlugin, provide, StatusParts } from 'pounce/sdk'
import { config } from './config.ts'
import { LdapStatus } from './directory.ts'
import { LdapAccounts } from './ldap-accounts.ts'

export const plugin = definePlugin({
  id: 'auth.ldap',
  summary: 'Sign-in with LDAP or Active Directory.',
  config,
  provides: [provide(AuthProviders, LdapAccounts), provide(StatusParts, LdapStatus)],
})
