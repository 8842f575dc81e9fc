import { definePlugin, on, PersonalDataSources, provide } from 'pounce/sdk'
import { BulkJobs, PersonalBulkJobs } from './bulk-jobs.ts'
import { BulkRunner } from './bulk-runner.ts'
import { bulkChunks, bulkJobs } from './collections.ts'
import * as routes from './routes.ts'

export const plugin = definePlugin({
  id: 'resources.bulk',
  summary: 'Bulk jobs: delete, move, tag, describe, license or submit many resources in the background.',
  provides: [provide(PersonalDataSources, PersonalBulkJobs)],
  routes,
  collections: [bulkJobs, bulkChunks],
  handlers: [on(['bulk.requested', 'bulk.advanced'], BulkRunner, 'carry-out')],
  periodic: [{ name: 'forget', everyMs: 60 * 60 * 1000, task: BulkJobs }],
})
