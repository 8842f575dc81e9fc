import { AuthProviders, definePlugin, provide } from 'pounce/sdk'
import { LocalAccounts } from './local-accounts.ts'

export const plugin = definePlugin({
  id: 'auth.local',
  summary: 'Accounts with a password that this server keeps.',
  provides: [provide(AuthProviders, LocalAccounts)],
})
