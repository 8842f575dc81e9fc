import { AuthProviders, definePlugin, provide, StatusParts } from 'pounce/sdk'
import { config } from './config.ts'
import { Directory, LdapDirectory } from './directory.ts'
import { LdapAccounts } from './ldap-accounts.ts'
import { LdapStatus } from './ldap-status.ts'

export const plugin = definePlugin({
  id: 'auth.ldap',
  summary: 'Accounts of a directory (LDAP, Active Directory).',
  config,
  provides: [provide(LdapDirectory, Directory), provide(AuthProviders, LdapAccounts), provide(StatusParts, LdapStatus)],
})
