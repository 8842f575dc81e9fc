import {
  Bins,
  ContentCounts,
  clearTrashEveryMs,
  Datasets,
  definePlugin,
  on,
  provide,
  ReportSources,
  RightsOf,
  Searchables,
  TreeBranches,
} from 'pounce/sdk'
import { AbandonedImports } from './abandoned-imports.ts'
import { datasets } from './collection.ts'
import { DatasetBranch } from './dataset-branch.ts'
import { DatasetCounts, DatasetTallies } from './dataset-counts.ts'
import { DatasetEditing, DatasetEdits } from './dataset-edits.ts'
import { DatasetListings, DatasetLists } from './dataset-lists.ts'
import { DatasetPlaces, DatasetPlacing } from './dataset-places.ts'
import { DatasetRights } from './dataset-rights.ts'
import { config, DatasetTrash, DatasetTrashes } from './dataset-trash.ts'
import { ExpireDatasets } from './expire.ts'
import { FollowAccess, FollowCollection, LeaveCollection, LeaveSpace } from './handlers.ts'
import { FileMoveTargets, MoveTargets } from './move-targets.ts'
import { DatasetSource } from './report-source.ts'
import * as routes from './routes.ts'
import * as editRoutes from './routes-edit.ts'
import * as placeRoutes from './routes-places.ts'
import * as trashRoutes from './routes-trash.ts'
import { SearchableDatasets } from './searchable-datasets.ts'
import { StoredDatasets } from './stored-datasets.ts'

export const plugin = definePlugin({
  id: 'resources.datasets',
  summary: 'Datasets: files and folders kept together with their metadata.',
  config,
  provides: [
    provide(Datasets, StoredDatasets),
    provide(DatasetPlacing, DatasetPlaces),
    provide(DatasetEditing, DatasetEdits),
    provide(DatasetListings, DatasetLists),
    provide(DatasetTrashes, DatasetTrash),
    provide(FileMoveTargets, MoveTargets),
    provide(Bins, DatasetTrash),
    provide(DatasetTallies, DatasetCounts),
    provide(TreeBranches, DatasetBranch),
    provide(RightsOf, DatasetRights),
    provide(Searchables, SearchableDatasets),
    provide(ContentCounts, DatasetCounts),
    provide(ReportSources, DatasetSource),
  ],
  routes: { ...routes, ...editRoutes, ...placeRoutes, ...trashRoutes },
  collections: [datasets],
  handlers: [
    on('space.removed', LeaveSpace),
    on('space.updated', FollowAccess),
    on('space.expiry-due', ExpireDatasets),
    on('collection.removed', LeaveCollection),
    on('collection.detached', FollowCollection),
  ],
  periodic: [
    { name: 'abandoned-imports', everyMs: 10 * 60 * 1000, task: AbandonedImports },
    { name: 'clear-trash', everyMs: clearTrashEveryMs, task: DatasetTrash },
  ],
})
