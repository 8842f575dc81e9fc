import { definePlugin, Mailer, provide, StatusParts } from 'pounce/sdk'
import { config } from './config.ts'
import { SmtpMailer } from './smtp-mailer.ts'
import { Server, SmtpServer } from './smtp-server.ts'
import { SmtpStatus } from './smtp-status.ts'

export const plugin = definePlugin({
  id: 'mail.smtp',
  summary: 'Sends mail through a mail server (SMTP).',
  config,
  provides: [provide(Server, SmtpServer), provide(Mailer, SmtpMailer), provide(StatusParts, SmtpStatus)],
})
