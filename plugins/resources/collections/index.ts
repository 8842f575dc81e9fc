import { Collections, definePlugin, on, provide, SessionSources } from 'pounce/sdk'
import { clearTrashEveryMs } from 'pounce/sdk/kit'
import { CollectionTrashCapability, config } from './collection.ts'
import {
  DetachCollectionsOnParentRemoved,
  DetachCollectionsOnSpaceRemoved,
  ExpireCollections,
  NotifyAdminsOnCollectionRemoved,
  UpdateCollectionAccessOnSpaceUpdated,
  UpdateSpacesOnParentChanged,
  UpdateTopLevelOnParentTrashed,
} from './handlers.ts'
import { collectionResource } from './resource.ts'
import * as routes from './routes.ts'
import * as listRoutes from './routes-lists.ts'
import * as treeRoutes from './routes-tree.ts'
import { CollectionTrash, StoredCollections } from './stored-collections.ts'

export const plugin = definePlugin({
  id: 'resources.collections',
  summary: 'Collections: groups of datasets and collections, many-to-many.',
  config,
  resources: [collectionResource],
  provides: [provide(Collections, StoredCollections), provide(SessionSources, CollectionTrashCapability)],
  routes: { ...routes, ...listRoutes, ...treeRoutes },
  handlers: [
    on('space.removed', DetachCollectionsOnSpaceRemoved, 'leave-space'),
    on('space.updated', UpdateCollectionAccessOnSpaceUpdated, 'follow-access'),
    on('space.expiry-due', ExpireCollections, 'expire-collections'),
    on('collection.removed', DetachCollectionsOnParentRemoved, 'leave-parent'),
    on('collection.removed', NotifyAdminsOnCollectionRemoved, 'tell-admins'),
    on(['collection.trashed', 'collection.restored'], UpdateTopLevelOnParentTrashed, 'follow-parent-trash'),
    on(['collection.attached', 'collection.detached'], UpdateSpacesOnParentChanged, 'follow-parent'),
  ],
  migrations: new URL('./migrations/', import.meta.url),
  periodic: [{ name: 'clear-trash', everyMs: clearTrashEveryMs, task: CollectionTrash }],
})
