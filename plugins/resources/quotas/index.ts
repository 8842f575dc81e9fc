import { Commands, definePlugin, on, PersonalDataSources, provide, SessionSources, StorageQuotas } from 'pounce/sdk'
import { charges, limits, usages } from './collections.ts'
import { config } from './config.ts'
import { PersonalCharges, PersonalLimit, PersonalUsage } from './personal-data.ts'
import { Recount, RecountCommand, UpdateUsageOnPlacement, UsageDoctor } from './recount.ts'
import * as routes from './routes.ts'
import { StorageUsage } from './storage-usage.ts'
import { StorageUsageSource } from './usage-ledger.ts'

export const plugin = definePlugin({
  id: 'resources.quotas',
  summary: 'Quotas: maximum bytes and files per user and space. Off unless a limit is set.',
  config,
  provides: [
    provide(StorageQuotas, StorageUsage),
    provide(Commands, RecountCommand),
    provide(Commands, UsageDoctor),
    provide(PersonalDataSources, PersonalUsage),
    provide(PersonalDataSources, PersonalLimit),
    provide(PersonalDataSources, PersonalCharges),
    provide(SessionSources, StorageUsageSource),
  ],
  routes,
  collections: [usages, limits, charges],
  handlers: [on('file.removed', StorageUsage, 'storage'), on(['file.attached', 'file.detached'], UpdateUsageOnPlacement, 'settle-file')],
  periodic: [{ name: 'recount', everyMs: 60 * 60 * 1000, task: Recount }],
})
