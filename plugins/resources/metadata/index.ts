import { definePlugin, MetadataDocuments, onBatch, provide, RightsOf } from 'pounce/sdk'
import { AddingToFiles, FileAdditions } from './adding-to-files.ts'
import { Annotating, Annotations } from './annotating.ts'
import { metadata } from './collection.ts'
import { DocumentPages, Pages } from './document-pages.ts'
import { FollowTarget } from './follow-target.ts'
import { MetadataRights } from './metadata-rights.ts'
import * as routes from './routes.ts'
import * as contextRoutes from './routes-contexts.ts'
import * as manyRoutes from './routes-many.ts'
import * as olderRoutes from './routes-older.ts'
import * as peopleRoutes from './routes-people.ts'
import { Contexts, contexts, StoredContexts } from './stored-contexts.ts'
import { MetadataDesk, StoredMetadata } from './stored-metadata.ts'

export const plugin = definePlugin({
  id: 'resources.metadata',
  summary: 'Metadata: JSON-LD documents that people and extractors add to things.',
  provides: [
    provide(MetadataDocuments, StoredMetadata),
    provide(MetadataDesk, StoredMetadata),
    provide(Annotations, Annotating),
    provide(FileAdditions, AddingToFiles),
    provide(Pages, DocumentPages),
    provide(Contexts, StoredContexts),
    provide(RightsOf, MetadataRights),
  ],
  routes: { ...routes, ...manyRoutes, ...peopleRoutes, ...olderRoutes, ...contextRoutes },
  collections: [metadata, contexts],
  handlers: [onBatch(['file.removed', 'dataset.removed', 'collection.removed', 'space.removed'], FollowTarget)],
})
