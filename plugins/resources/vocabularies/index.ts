import { definePlugin, on, provide, RightsOf, StandardVocabularies } from 'pounce/sdk'
import { standardVocabularies, vocabularies } from './collections.ts'
import * as routes from './routes.ts'
import * as standardRoutes from './routes-standard.ts'
import { Standards, StoredStandards } from './stored-standards.ts'
import { LeaveSpace, StoredVocabularies, Vocabularies } from './stored-vocabularies.ts'
import { TermRights, VocabularyRights } from './vocabulary-rights.ts'

export const plugin = definePlugin({
  id: 'resources.vocabularies',
  summary: 'Vocabularies: words that people agree on, as lists for everybody and as terms with units.',
  provides: [
    provide(StandardVocabularies, StoredStandards),
    provide(Standards, StoredStandards),
    provide(Vocabularies, StoredVocabularies),
    provide(RightsOf, VocabularyRights),
    provide(RightsOf, TermRights),
  ],
  routes: { ...routes, ...standardRoutes },
  collections: [standardVocabularies, vocabularies],
  handlers: [on('space.removed', LeaveSpace)],
})
