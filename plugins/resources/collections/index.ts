import {
  Collections,
  ContentCounts,
  clearTrashEveryMs,
  definePlugin,
  on,
  PersonalDataSources,
  provide,
  ReportSources,
  RightsOf,
  Searchables,
  TreeBranches,
} from 'pounce/sdk'
import { collections } from './collection.ts'
import { CollectionBranch } from './collection-branch.ts'
import { CollectionCounts } from './collection-counts.ts'
import { CollectionRights } from './collection-rights.ts'
import { CollectionTrash } from './collection-trash.ts'
import { config } from './config.ts'
import { ExpireCollections } from './expire.ts'
import {
  DetachCollectionsOnParentRemoved,
  DetachCollectionsOnSpaceRemoved,
  UpdateCollectionAccessOnSpaceUpdated,
  UpdateSpacesOnParentChanged,
} from './handlers.ts'
import { NotifyAdminsOnCollectionRemoved } from './notify-admins-on-collection-removed.ts'
import { PersonalCollections } from './personal-data.ts'
import { CollectionSource } from './report-source.ts'
import * as routes from './routes.ts'
import * as listRoutes from './routes-lists.ts'
import * as spaceRoutes from './routes-spaces.ts'
import * as trashRoutes from './routes-trash.ts'
import * as treeRoutes from './routes-tree.ts'
import { SearchableCollections } from './searchable-collections.ts'
import { StoredCollections } from './stored-collections.ts'

export const plugin = definePlugin({
  id: 'resources.collections',
  summary: 'Collections: groups of datasets and collections, many-to-many.',
  config,
  provides: [
    provide(Collections, StoredCollections),
    provide(TreeBranches, CollectionBranch),
    provide(RightsOf, CollectionRights),
    provide(Searchables, SearchableCollections),
    provide(ContentCounts, CollectionCounts),
    provide(ReportSources, CollectionSource),
    provide(PersonalDataSources, PersonalCollections),
  ],
  routes: { ...routes, ...listRoutes, ...treeRoutes, ...spaceRoutes, ...trashRoutes },
  collections: [collections],
  handlers: [
    on('space.removed', DetachCollectionsOnSpaceRemoved, 'leave-space'),
    on('space.updated', UpdateCollectionAccessOnSpaceUpdated, 'follow-access'),
    on('space.expiry-due', ExpireCollections, 'expire-collections'),
    on('collection.removed', DetachCollectionsOnParentRemoved, 'leave-parent'),
    on('collection.removed', NotifyAdminsOnCollectionRemoved, 'tell-admins'),
    on(['collection.attached', 'collection.detached'], UpdateSpacesOnParentChanged, 'follow-parent'),
  ],
  periodic: [{ name: 'clear-trash', everyMs: clearTrashEveryMs, task: CollectionTrash }],
})
