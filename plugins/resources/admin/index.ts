import { Commands, definePlugin, on, PersonalDataSources, provide, Site, Sites } from 'pounce/sdk'
import { DeleteOldAdminMail, SendAdminMail } from './admin-mail.ts'
import { BackupCommand } from './backup-command.ts'
import { config } from './config.ts'
import * as mailTestRoutes from './mail-test.ts'
import * as pluginRoutes from './plugins.ts'
import * as routes from './routes.ts'
import { AcceptTermsForAuthor, letters, PersonalLetters, StoredSite, site } from './stored-site.ts'

const hourMs = 3_600_000

export const plugin = definePlugin({
  id: 'resources.admin',
  summary: 'Site settings and plugins that server admins change at runtime, messages to server admins, and backups.',
  config,
  provides: [
    provide(Site, StoredSite),
    provide(Sites, StoredSite),
    provide(PersonalDataSources, PersonalLetters),
    provide(Commands, BackupCommand),
  ],
  routes: { ...routes, ...mailTestRoutes, ...pluginRoutes },
  collections: [site, letters],
  handlers: [on('site.updated', AcceptTermsForAuthor, 'accept-own-terms'), on('letter.written', SendAdminMail, 'send-letter')],
  periodic: [{ name: 'forget-letters', everyMs: hourMs, task: DeleteOldAdminMail }],
})
