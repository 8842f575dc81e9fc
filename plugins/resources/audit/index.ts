import { AuditTrails, definePlugin, onBatch, provide } from 'pounce/sdk'
import { auditedEvents } from './audit-lines.ts'
import { audit } from './audit-record.ts'
import { config } from './config.ts'
import * as routes from './routes.ts'
import { AuditLog, ForgetAudit, StoredAudit } from './stored-audit.ts'

const hourMs = 3_600_000

export const plugin = definePlugin({
  id: 'resources.audit',
  summary: 'Audit log: what admins and credentials did.',
  config,
  provides: [provide(AuditLog, StoredAudit), provide(AuditTrails, StoredAudit)],
  routes,
  collections: [audit],
  handlers: [onBatch(auditedEvents, StoredAudit)],
  periodic: [{ name: 'forget', everyMs: hourMs, task: ForgetAudit }],
})
