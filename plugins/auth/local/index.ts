import { AuthProviders, definePlugin, on, provide, SignUpWays } from 'pounce/sdk'
import { links } from './collections.ts'
import { config } from './config.ts'
import { InvitedSignUps } from './invited.ts'
import { Linked, LinkedAccounts } from './linked-accounts.ts'
import { LocalAccounts } from './local-accounts.ts'
import { Links, MailLinks } from './mail-links.ts'
import * as routes from './routes.ts'
import { SendLink } from './send-link.ts'

const hourMs = 3_600_000

export const plugin = definePlugin({
  id: 'auth.local',
  summary: 'Accounts with a password that this server keeps: signing up, signing in, setting another password.',
  config,
  provides: [
    provide(AuthProviders, LocalAccounts),
    provide(Links, MailLinks),
    provide(Linked, LinkedAccounts),
    provide(SignUpWays, InvitedSignUps),
  ],
  routes,
  collections: [links],
  handlers: [on('account-link.requested', SendLink)],
  periodic: [{ name: 'forget-links', everyMs: hourMs, task: MailLinks }],
})
