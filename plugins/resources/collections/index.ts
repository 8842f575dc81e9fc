import {
  Collections,
  ContentCounts,
  clearTrashEveryMs,
  definePlugin,
  on,
  provide,
  ReportSources,
  RightsOf,
  Searchables,
  TreeBranches,
} from 'pounce/sdk'
import { collections } from './collection.ts'
import { CollectionBranch } from './collection-branch.ts'
import { CollectionCounts } from './collection-counts.ts'
import { CollectionLife, CollectionLifes } from './collection-life.ts'
import { CollectionListings, CollectionLists } from './collection-lists.ts'
import { CollectionRights } from './collection-rights.ts'
import { CollectionTrash, CollectionTrashes } from './collection-trash.ts'
import { CollectionTree, CollectionTrees } from './collection-tree.ts'
import { CollectionShown, CollectionViews } from './collection-views.ts'
import { config } from './config.ts'
import { ExpireCollections } from './expire.ts'
import { FollowAccess, FollowParent, LeaveParent, LeaveSpace } from './handlers.ts'
import { CollectionSource } from './report-source.ts'
import * as routes from './routes.ts'
import * as listRoutes from './routes-lists.ts'
import * as spaceRoutes from './routes-spaces.ts'
import * as trashRoutes from './routes-trash.ts'
import * as treeRoutes from './routes-tree.ts'
import { SearchableCollections } from './searchable-collections.ts'
import { StoredCollections } from './stored-collections.ts'
import { TellAdmins } from './tell-admins.ts'

export const plugin = definePlugin({
  id: 'resources.collections',
  summary: 'Collections: datasets and collections grouped, many-to-many.',
  config,
  provides: [
    provide(Collections, StoredCollections),
    provide(CollectionTrees, CollectionTree),
    provide(CollectionLifes, CollectionLife),
    provide(CollectionTrashes, CollectionTrash),
    provide(CollectionListings, CollectionLists),
    provide(CollectionShown, CollectionViews),
    provide(TreeBranches, CollectionBranch),
    provide(RightsOf, CollectionRights),
    provide(Searchables, SearchableCollections),
    provide(ContentCounts, CollectionCounts),
    provide(ReportSources, CollectionSource),
  ],
  routes: { ...routes, ...listRoutes, ...treeRoutes, ...spaceRoutes, ...trashRoutes },
  collections: [collections],
  handlers: [
    on('space.removed', LeaveSpace),
    on('space.updated', FollowAccess),
    on('space.expiry-due', ExpireCollections),
    on('collection.removed', LeaveParent),
    on('collection.removed', TellAdmins),
    on(['collection.attached', 'collection.detached'], FollowParent),
  ],
  periodic: [{ name: 'clear-trash', everyMs: clearTrashEveryMs, task: CollectionTrash }],
})
