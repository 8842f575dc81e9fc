import { AuthProviders, definePlugin, on, PersonalDataSources, provide, SessionSources, SignUpWays } from 'pounce/sdk'
import { config, SignUpCapability } from './config.ts'
import { LocalAccounts } from './linked-accounts.ts'
import { links, MailLinks, PersonalMailLinks } from './mail-links.ts'
import * as routes from './routes.ts'
import { InvitedSignUps, LinkPages, SendMailLink } from './send-mail-link.ts'

const hourMs = 3_600_000

export const plugin = definePlugin({
  id: 'auth.local',
  summary: 'Accounts with a local password: sign-up, sign-in and password reset.',
  config,
  provides: [
    provide(AuthProviders, LocalAccounts),
    provide(SignUpWays, InvitedSignUps),
    provide(PersonalDataSources, PersonalMailLinks),
    provide(SessionSources, SignUpCapability),
  ],
  routes,
  middleware: [{ phase: 'beforeRouting', by: LinkPages }],
  collections: [links],
  handlers: [on('account-link.requested', SendMailLink, 'send-link')],
  periodic: [{ name: 'forget-links', everyMs: hourMs, task: MailLinks }],
})
