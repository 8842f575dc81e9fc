import { definePlugin, on, onBatch, PersonalDataSources, provide, RightsOf } from 'pounce/sdk'
import { relations } from './collection.ts'
import { PersonalRelations } from './personal-data.ts'
import { RelationRights } from './relation-rights.ts'
import * as routes from './routes.ts'
import { RelateCopies, StoredRelations } from './stored-relations.ts'

export const plugin = definePlugin({
  id: 'resources.relations',
  summary: 'Relations between resources.',
  provides: [provide(RightsOf, RelationRights), provide(PersonalDataSources, PersonalRelations)],
  routes,
  collections: [relations],
  handlers: [
    onBatch(
      ['file.removed', 'dataset.removed', 'collection.removed', 'folder.removed', 'metadata.removed'],
      StoredRelations,
      'stored-relations',
    ),
    on(['dataset.copied', 'file.copied'], RelateCopies, 'relate-copies'),
  ],
})
