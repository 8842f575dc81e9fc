import { definePlugin, provide } from 'pounce/sdk'
import { ExtractorReports, ReportsOfExtractors } from './extractor-reports.ts'
import { FilesKept, KeptFiles } from './files-kept.ts'
import { PeopleReports, ReportsOfPeople } from './people-reports.ts'
import { RecordReports, ReportsOfRecords } from './record-reports.ts'
import * as routes from './routes.ts'
import { RecordSources, Sources } from './sources.ts'
import { PeopleOfSpaces, SpacesPeople } from './space-people.ts'
import { ReportsOfStorage, StorageReports } from './storage-reports.ts'
import { ReportsOfUsage, UsageReports } from './usage-reports.ts'

export const plugin = definePlugin({
  id: 'resources.reports',
  summary: 'Reports for server admins: what there is, how it is used, what it takes, as CSV or JSON.',
  provides: [
    provide(RecordSources, Sources),
    provide(ReportsOfRecords, RecordReports),
    provide(ReportsOfPeople, PeopleReports),
    provide(SpacesPeople, PeopleOfSpaces),
    provide(KeptFiles, FilesKept),
    provide(ReportsOfStorage, StorageReports),
    provide(ReportsOfUsage, UsageReports),
    provide(ReportsOfExtractors, ExtractorReports),
  ],
  routes,
})
