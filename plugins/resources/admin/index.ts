import { definePlugin, on, provide, Site, Sites } from 'pounce/sdk'
import { AcceptOwnTerms } from './accept-own-terms.ts'
import { letters, site } from './collections.ts'
import { config } from './config.ts'
import { AdminLetters, ForgetLetters, Letters, SendLetter } from './letters.ts'
import { MailTest, MailTests } from './mail-test.ts'
import * as routes from './routes.ts'
import * as mailTestRoutes from './routes-mail-test.ts'
import { StoredSite } from './stored-site.ts'

const hourMs = 3_600_000

export const plugin = definePlugin({
  id: 'resources.admin',
  summary: 'What server admins set while the installation runs, and letters to them.',
  config,
  provides: [provide(Site, StoredSite), provide(Sites, StoredSite), provide(Letters, AdminLetters), provide(MailTests, MailTest)],
  routes: { ...routes, ...mailTestRoutes },
  collections: [site, letters],
  handlers: [on('site.updated', AcceptOwnTerms), on('letter.written', SendLetter)],
  periodic: [{ name: 'forget-letters', everyMs: hourMs, task: ForgetLetters }],
})
