import { definePlugin, on, onBatch, provide, RightsOf } from 'pounce/sdk'
import { relations } from './collection.ts'
import { RelationRights } from './relation-rights.ts'
import * as routes from './routes.ts'
import { RelateCopies, Relations, StoredRelations } from './stored-relations.ts'

export const plugin = definePlugin({
  id: 'resources.relations',
  summary: 'Relations between things: what has to do with what.',
  provides: [provide(Relations, StoredRelations), provide(RightsOf, RelationRights)],
  routes,
  collections: [relations],
  handlers: [
    onBatch(['file.removed', 'dataset.removed', 'collection.removed', 'folder.removed', 'metadata.removed'], StoredRelations),
    on(['dataset.copied', 'file.copied'], RelateCopies),
  ],
})
