import { definePlugin, on, PersonalDataSources, provide, StandardVocabularies } from 'pounce/sdk'
import { termResource, vocabularyResource } from './resource.ts'
import * as vocabularyRoutes from './routes.ts'
import * as standardRoutes from './routes-standard-vocabularies.ts'
import { StoredStandards } from './stored-standards.ts'
import { DetachVocabulariesOnSpaceRemoved, PersonalStandardVocabularies, standardVocabularies } from './stored-vocabularies.ts'

export const plugin = definePlugin({
  id: 'resources.vocabularies',
  summary: 'Vocabularies: shared lists of terms, and terms with units.',
  resources: [vocabularyResource, termResource],
  provides: [provide(StandardVocabularies, StoredStandards), provide(PersonalDataSources, PersonalStandardVocabularies)],
  routes: { ...vocabularyRoutes, ...standardRoutes },
  collections: [standardVocabularies],
  handlers: [on('space.removed', DetachVocabulariesOnSpaceRemoved, 'leave-space')],
})
