import { definePlugin, on, onBatch, port, provide, ReportedRuns, type TransportListener } from 'pounce/sdk'
import { Archival, Archive, ArchiveDataset } from './archival.ts'
import { Asking, AskingRuns } from './asking.ts'
import { AllTransports, Carriers } from './carriers.ts'
import { archivals, choices, extractions, extractors, labels } from './collections.ts'
import { config } from './config.ts'
import { FinishUpload, FollowSpace, FollowTarget, WakeExtractors, WakeOnMetadata, WakeOnRemoval } from './handlers.ts'
import { ExtractorIntroductions, Introductions } from './introductions.ts'
import { KeptRuns } from './reported-runs.ts'
import * as archiveRoutes from './routes-archive.ts'
import * as enablingRoutes from './routes-enabling.ts'
import * as extractionRoutes from './routes-extractions.ts'
import * as extractorRoutes from './routes-extractors.ts'
import * as fileRoutes from './routes-files.ts'
import * as labelRoutes from './routes-labels.ts'
import * as operationRoutes from './routes-operations.ts'
import { Routes, Routing } from './routing.ts'
import { Choices, StoredChoices } from './stored-choices.ts'
import { Extractions, StoredExtractions } from './stored-extractions.ts'
import { KnownExtractors, StoredExtractors } from './stored-extractors.ts'
import { Labels, StoredLabels } from './stored-labels.ts'
import { Submission, Submissions } from './submission.ts'
import { TakeResults } from './take-results.ts'
import { ExtractorUsage, UsageOfExtractors } from './usage.ts'
import { Waking, WakingExtractors } from './waking.ts'

export const plugin = definePlugin({
  id: 'resources.extractions',
  summary: 'Extractors and their runs: who wakes when something happens, what was asked, what became of it.',
  config,
  provides: [
    provide(Extractions, StoredExtractions),
    provide(KnownExtractors, StoredExtractors),
    provide(Choices, StoredChoices),
    provide(Labels, StoredLabels),
    provide(Routes, Routing),
    provide(AskingRuns, Asking),
    provide(WakingExtractors, Waking),
    provide(Submissions, Submission),
    provide(Archive, Archival),
    provide(UsageOfExtractors, ExtractorUsage),
    provide(AllTransports, Carriers),
    provide(ExtractorIntroductions, Introductions),
    provide(port<TransportListener>('extractions.results'), TakeResults),
    provide(ReportedRuns, KeptRuns),
  ],
  routes: {
    ...{ ...extractorRoutes, ...enablingRoutes, ...labelRoutes },
    ...{ ...extractionRoutes, ...fileRoutes, ...operationRoutes, ...archiveRoutes },
  },
  collections: [extractors, choices, labels, extractions, archivals],
  migrations: new URL('./migrations/', import.meta.url),
  handlers: [
    on('file.created', WakeExtractors),
    onBatch(['file.removed'], WakeOnRemoval),
    onBatch(['metadata.added', 'metadata.removed'], WakeOnMetadata),
    on('extraction.status', FinishUpload),
    onBatch(['file.removed', 'dataset.removed'], FollowTarget),
    on('space.removed', FollowSpace),
    on('dataset.archival-asked', ArchiveDataset),
  ],
})
