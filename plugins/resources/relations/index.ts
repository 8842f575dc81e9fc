import { definePlugin, on, onBatch } from 'pounce/sdk'
import { relationResource } from './resource.ts'
import * as routes from './routes.ts'
import { RelateCopies, StoredRelations } from './stored-relations.ts'

export const plugin = definePlugin({
  id: 'resources.relations',
  summary: 'Relations between resources.',
  resources: [relationResource],
  routes,
  handlers: [
    onBatch(
      [
        ...(['file.removed', 'dataset.removed', 'collection.removed', 'folder.removed', 'metadata.removed'] as const),
        ...(['sensor.removed', 'stream.removed'] as const),
      ],
      StoredRelations,
      'stored-relations',
    ),
    on(['dataset.copied', 'file.copied'], RelateCopies, 'relate-copies'),
  ],
})
