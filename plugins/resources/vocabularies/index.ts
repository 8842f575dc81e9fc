import { definePlugin, on, PersonalDataSources, provide, RightsOf, StandardVocabularies } from 'pounce/sdk'
import { standardVocabularies, vocabularies } from './collections.ts'
import { PersonalStandardVocabularies, PersonalVocabularies } from './personal-data.ts'
import * as routes from './routes.ts'
import * as standardRoutes from './routes-standard.ts'
import { StoredStandards } from './stored-standards.ts'
import { DetachVocabulariesOnSpaceRemoved } from './stored-vocabularies.ts'
import { TermRights, VocabularyRights } from './vocabulary-rights.ts'

export const plugin = definePlugin({
  id: 'resources.vocabularies',
  summary: 'Vocabularies: shared lists of terms, and terms with units.',
  provides: [
    provide(StandardVocabularies, StoredStandards),
    provide(RightsOf, VocabularyRights),
    provide(RightsOf, TermRights),
    provide(PersonalDataSources, PersonalStandardVocabularies),
    provide(PersonalDataSources, PersonalVocabularies),
  ],
  routes: { ...routes, ...standardRoutes },
  collections: [standardVocabularies, vocabularies],
  handlers: [on('space.removed', DetachVocabulariesOnSpaceRemoved, 'leave-space')],
})
