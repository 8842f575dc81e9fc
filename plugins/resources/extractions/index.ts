import { BulkOperations, definePlugin, JobRecords, on, onBatch, PersonalDataSources, provide, ReportedRuns } from 'pounce/sdk'
import { ArchiveDataset } from './archival.ts'
import { SubmitMany } from './bulk-operations.ts'
import { archivals, choices, extractions, extractors, labels } from './collections.ts'
import { config } from './config.ts'
import { DeleteExtractorChoicesOnSpaceRemoved } from './enabled-extractors.ts'
import { ExtractionResults } from './extraction-results.ts'
import {
  EnqueueJobsOnFileCreated,
  EnqueueJobsOnFileRemoved,
  EnqueueJobsOnFilesAdded,
  EnqueueJobsOnMetadataChanged,
} from './extraction-triggers.ts'
import { PersonalArchivals, PersonalExtractors, PersonalRuns } from './personal-data.ts'
import * as archiveRoutes from './routes-archive.ts'
import * as enablingRoutes from './routes-enabling.ts'
import * as extractionRoutes from './routes-extractions.ts'
import * as extractorRoutes from './routes-extractors.ts'
import * as fileRoutes from './routes-files.ts'
import * as labelRoutes from './routes-labels.ts'
import * as operationRoutes from './routes-operations.ts'
import { DeleteRunsOnTargetRemoved, JobRecordsOfRuns, StoredRunReports } from './stored-extractions.ts'
import { MoveJobsToBus } from './transport-router.ts'

export const plugin = definePlugin({
  id: 'resources.extractions',
  summary: 'Extractors and extractions: triggers, jobs and results.',
  config,
  provides: [
    provide(ReportedRuns, StoredRunReports),
    provide(BulkOperations, SubmitMany),
    provide(JobRecords, JobRecordsOfRuns),
    provide(PersonalDataSources, PersonalArchivals),
    provide(PersonalDataSources, PersonalExtractors),
    provide(PersonalDataSources, PersonalRuns),
  ],
  services: [ExtractionResults],
  periodic: [{ name: 'move-to-bus', everyMs: 60_000, task: MoveJobsToBus }],
  routes: {
    ...{ ...extractorRoutes, ...enablingRoutes, ...labelRoutes },
    ...{ ...extractionRoutes, ...fileRoutes, ...operationRoutes, ...archiveRoutes },
  },
  collections: [extractors, choices, labels, extractions, archivals],
  migrations: new URL('./migrations/', import.meta.url),
  handlers: [
    on(['file.created', 'file.scanned'], EnqueueJobsOnFileCreated, 'wake-extractors'),
    on('dataset.files-added', EnqueueJobsOnFilesAdded, 'wake-on-batch'),
    onBatch(['file.removed'], EnqueueJobsOnFileRemoved, 'wake-on-removal'),
    onBatch(['metadata.added', 'metadata.removed'], EnqueueJobsOnMetadataChanged, 'wake-on-metadata'),
    onBatch(['file.removed', 'dataset.removed'], DeleteRunsOnTargetRemoved, 'follow-target'),
    on('space.removed', DeleteExtractorChoicesOnSpaceRemoved, 'follow-space'),
    on('dataset.archival-asked', ArchiveDataset, 'archive-dataset'),
  ],
  formerHandlers: ['finish-upload'],
})
