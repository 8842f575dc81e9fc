import {
  ContentCounts,
  clearTrashEveryMs,
  Datasets,
  definePlugin,
  on,
  PersonalDataSources,
  provide,
  ReportSources,
  RightsOf,
  Searchables,
  TrashHandlers,
  TreeBranches,
} from 'pounce/sdk'
import { AbandonedImports } from './abandoned-imports.ts'
import { datasets } from './collection.ts'
import { DatasetBranch } from './dataset-branch.ts'
import { DatasetCounts } from './dataset-counts.ts'
import { DatasetRights } from './dataset-rights.ts'
import { config, DatasetTrash } from './dataset-trash.ts'
import { ExpireDatasets } from './expire.ts'
import {
  DetachDatasetsOnCollectionDetached,
  DetachDatasetsOnCollectionRemoved,
  DetachDatasetsOnSpaceRemoved,
  UpdateDatasetAccessOnSpaceUpdated,
} from './handlers.ts'
import { PersonalDatasets } from './personal-data.ts'
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
    provide(TrashHandlers, DatasetTrash),
    provide(TreeBranches, DatasetBranch),
    provide(RightsOf, DatasetRights),
    provide(Searchables, SearchableDatasets),
    provide(ContentCounts, DatasetCounts),
    provide(ReportSources, DatasetSource),
    provide(PersonalDataSources, PersonalDatasets),
  ],
  routes: { ...routes, ...editRoutes, ...placeRoutes, ...trashRoutes },
  collections: [datasets],
  handlers: [
    on('space.removed', DetachDatasetsOnSpaceRemoved, 'leave-space'),
    on('space.updated', UpdateDatasetAccessOnSpaceUpdated, 'follow-access'),
    on('space.expiry-due', ExpireDatasets, 'expire-datasets'),
    on('collection.removed', DetachDatasetsOnCollectionRemoved, 'leave-collection'),
    on('collection.detached', DetachDatasetsOnCollectionDetached, 'follow-collection'),
  ],
  periodic: [
    { name: 'abandoned-imports', everyMs: 10 * 60 * 1000, task: AbandonedImports },
    { name: 'clear-trash', everyMs: clearTrashEveryMs, task: DatasetTrash },
  ],
})
