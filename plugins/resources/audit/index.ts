import { AccessTrails, AuditForwarding, AuditTrails, Commands, definePlugin, onBatch, PersonalDataSources, provide } from 'pounce/sdk'
import { AccessLog } from './access-log.ts'
import { auditedEvents } from './audit-lines.ts'
import { AnchorChains } from './chain-anchors.ts'
import { audit, chains } from './chain-writer.ts'
import { config } from './config.ts'
import { AuditForwarder } from './forwarder.ts'
import { PersonalAudit } from './personal-data.ts'
import * as routes from './routes.ts'
import { AuditRetention, StoredAudit } from './stored-audit.ts'
import { VerifyCommand } from './verify-audit.ts'

const minuteMs = 60_000
const hourMs = 3_600_000

export const plugin = definePlugin({
  id: 'resources.audit',
  summary: 'Audit log: actions of admins, use of credentials, and reads.',
  config,
  provides: [
    provide(AuditTrails, StoredAudit),
    provide(AccessTrails, AccessLog),
    provide(AuditForwarding, AuditForwarder),
    provide(Commands, VerifyCommand),
    provide(PersonalDataSources, PersonalAudit),
  ],
  routes,
  collections: [audit, chains],
  handlers: [onBatch(auditedEvents, StoredAudit, 'stored-audit')],
  periodic: [
    { name: 'forget', everyMs: hourMs, task: AuditRetention },
    { name: 'anchor', everyMs: 10 * minuteMs, task: AnchorChains },
  ],
})
