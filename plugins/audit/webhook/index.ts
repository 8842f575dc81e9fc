import { AuditReceivers, definePlugin, provide } from 'pounce/sdk'
import { auditSending } from 'pounce/sdk/kit'
import { config } from './config.ts'
import { WebhookReceiver } from './webhook-receiver.ts'

const SendLines = auditSending(WebhookReceiver)

export const plugin = definePlugin({
  id: 'audit.webhook',
  summary: 'Sends the lines of the audit log to a webhook, signed.',
  config,
  provides: [provide(AuditReceivers, WebhookReceiver)],
  periodic: [{ name: 'send', everyMs: 2000, task: SendLines }],
})
