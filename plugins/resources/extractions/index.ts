import { definePlugin, on, port, provide, type TransportListener } from 'pounce/sdk'
import { AllTransports, Carriers } from './carriers.ts'
import { extractions, extractors } from './collections.ts'
import { FinishUpload, FollowTarget, WakeExtractors } from './handlers.ts'
import * as extractionRoutes from './routes-extractions.ts'
import * as extractorRoutes from './routes-extractors.ts'
import { Extractions, StoredExtractions } from './stored-extractions.ts'
import { KnownExtractors, StoredExtractors } from './stored-extractors.ts'
import { Submission, Submissions } from './submission.ts'
import { TakeResults } from './take-results.ts'

export const plugin = definePlugin({
  id: 'resources.extractions',
  summary: 'Extractors and their runs: who wakes on an upload, what was asked, what became of it.',
  provides: [
    provide(Extractions, StoredExtractions),
    provide(KnownExtractors, StoredExtractors),
    provide(Submissions, Submission),
    provide(AllTransports, Carriers),
    provide(port<TransportListener>('extractions.results'), TakeResults),
  ],
  routes: { ...extractorRoutes, ...extractionRoutes },
  collections: [extractors, extractions],
  handlers: [
    on('file.created', WakeExtractors),
    on('extraction.status', FinishUpload),
    on(['file.removed', 'dataset.removed'], FollowTarget),
  ],
})
