import { definePlugin, Mailer, provide, SessionSources, StatusParts } from 'pounce/sdk'
import { config, MailCapability } from './config.ts'
import { SmtpMailer, SmtpStatus } from './smtp-server.ts'

export const plugin = definePlugin({
  id: 'mail.smtp',
  summary: 'Sends email through an SMTP server.',
  config,
  provides: [provide(Mailer, SmtpMailer), provide(StatusParts, SmtpStatus), provide(SessionSources, MailCapability)],
})
