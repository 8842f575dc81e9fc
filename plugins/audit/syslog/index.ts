import { AuditReceivers, definePlugin, provide } from 'pounce/sdk'
import { auditSending } from 'pounce/sdk/kit'
import { config } from './config.ts'
import { SyslogReceiver } from './syslog-receiver.ts'

const SendLines = auditSending(SyslogReceiver)

export const plugin = definePlugin({
  id: 'audit.syslog',
  summary: 'Sends the lines of the audit log to a syslog server (RFC 5424).',
  config,
  provides: [provide(AuditReceivers, SyslogReceiver)],
  periodic: [{ name: 'send', everyMs: 2000, task: SendLines }],
})
