import { definePlugin, MetadataDocuments, onBatch, PersonalDataSources, provide, RightsOf } from 'pounce/sdk'
import { metadata } from './collection.ts'
import { DeleteMetadataOnTargetRemoved } from './delete-with-target.ts'
import { MetadataRights } from './metadata-rights.ts'
import { PersonalContexts, PersonalMetadata } from './personal-data.ts'
import * as routes from './routes.ts'
import * as contextRoutes from './routes-contexts.ts'
import * as manyRoutes from './routes-many.ts'
import * as olderRoutes from './routes-older.ts'
import * as peopleRoutes from './routes-people.ts'
import { contexts } from './stored-contexts.ts'
import { StoredMetadata } from './stored-metadata.ts'

export const plugin = definePlugin({
  id: 'resources.metadata',
  summary: 'Metadata: JSON-LD documents that people and extractors add to resources.',
  provides: [
    provide(MetadataDocuments, StoredMetadata),
    provide(RightsOf, MetadataRights),
    provide(PersonalDataSources, PersonalContexts),
    provide(PersonalDataSources, PersonalMetadata),
  ],
  routes: { ...routes, ...manyRoutes, ...peopleRoutes, ...olderRoutes, ...contextRoutes },
  collections: [metadata, contexts],
  handlers: [
    onBatch(['file.removed', 'dataset.removed', 'collection.removed', 'space.removed'], DeleteMetadataOnTargetRemoved, 'follow-target'),
  ],
})
