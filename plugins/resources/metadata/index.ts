import { definePlugin, MetadataDocuments, onBatch, PersonalDataSources, provide } from 'pounce/sdk'
import { DeleteMetadataOnTargetRemoved } from './delete-with-target.ts'
import { metadataResource } from './resource.ts'
import * as routes from './routes.ts'
import * as contextRoutes from './routes-contexts.ts'
import * as manyRoutes from './routes-many.ts'
import * as olderRoutes from './routes-older.ts'
import * as peopleRoutes from './routes-people.ts'
import { contexts, PersonalContexts } from './stored-contexts.ts'
import { StoredMetadata } from './stored-metadata.ts'

export const plugin = definePlugin({
  id: 'resources.metadata',
  summary: 'Metadata: JSON-LD documents that people and extractors add to resources.',
  resources: [metadataResource],
  provides: [provide(MetadataDocuments, StoredMetadata), provide(PersonalDataSources, PersonalContexts)],
  routes: { ...routes, ...manyRoutes, ...peopleRoutes, ...olderRoutes, ...contextRoutes },
  collections: [contexts],
  handlers: [
    onBatch(['file.removed', 'dataset.removed', 'collection.removed', 'space.removed'], DeleteMetadataOnTargetRemoved, 'follow-target'),
  ],
})
