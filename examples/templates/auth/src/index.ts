import { AuthProviders, definePlugin, provide } from 'pounce/sdk'
import { config, ListedAccounts } from './listed-accounts.ts'

export { hashOf } from './listed-accounts.ts'

export const plugin = definePlugin({
  id: 'example.template',
  apiVersion: 1,
  summary: 'Sign-in for people who are listed in the configuration.',
  config,
  provides: [provide(AuthProviders, ListedAccounts)],
})
