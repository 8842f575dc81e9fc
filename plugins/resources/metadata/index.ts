import { definePlugin, MetadataDocuments, onBatch, PersonalDataSources, provide } from 'pounce/sdk'
import { metadataResource } from './resource.ts'
import * as routes from './routes.ts'
import * as contextRoutes from './routes-contexts.ts'
import * as peopleRoutes from './routes-people.ts'
import { contexts, PersonalContexts } from './stored-contexts.ts'
import { DeleteMetadataOnTargetRemoved, StoredMetadata } from './stored-metadata.ts'

export const plugin = definePlugin({
  id: 'resources.metadata',
  summary: 'Metadata: JSON-LD documents that people and extractors add to resources.',
  resources: [metadataResource],
  provides: [provide(MetadataDocuments, StoredMetadata), provide(PersonalDataSources, PersonalContexts)],
  routes: { ...routes, ...peopleRoutes, ...contextRoutes },
  collections: [contexts],
  handlers: [
    onBatch(['file.removed', 'dataset.removed', 'collection.removed', 'space.removed'], DeleteMetadataOnTargetRemoved, 'follow-target'),
  ],
})
