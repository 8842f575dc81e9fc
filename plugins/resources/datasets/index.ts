import { BulkOperations, Datasets, definePlugin, on, provide, SessionSources } from 'pounce/sdk'
import { clearTrashEveryMs } from 'pounce/sdk/kit'
import { DatasetBulkOperations } from './bulk-operations.ts'
import { config, DatasetTrash, DatasetTrashCapability } from './dataset-trash.ts'
import {
  AbandonedImports,
  DetachDatasetsOnCollectionDetached,
  DetachDatasetsOnCollectionRemoved,
  DetachDatasetsOnSpaceRemoved,
  ExpireDatasets,
  UpdateDatasetAccessOnSpaceUpdated,
} from './handlers.ts'
import { datasetResource } from './resource.ts'
import * as routes from './routes.ts'
import * as editRoutes from './routes-edit.ts'
import * as placeRoutes from './routes-places.ts'
import { StoredDatasets } from './stored-datasets.ts'

export const plugin = definePlugin({
  id: 'resources.datasets',
  summary: 'Datasets: files and folders kept together with their metadata.',
  config,
  resources: [datasetResource],
  provides: [
    provide(Datasets, StoredDatasets),
    provide(SessionSources, DatasetTrashCapability),
    provide(BulkOperations, DatasetBulkOperations),
  ],
  routes: { ...routes, ...editRoutes, ...placeRoutes },
  handlers: [
    on('space.removed', DetachDatasetsOnSpaceRemoved, 'leave-space'),
    on('space.updated', UpdateDatasetAccessOnSpaceUpdated, 'follow-access'),
    on('space.expiry-due', ExpireDatasets, 'expire-datasets'),
    on('collection.removed', DetachDatasetsOnCollectionRemoved, 'leave-collection'),
    on('collection.detached', DetachDatasetsOnCollectionDetached, 'follow-collection'),
  ],
  migrations: new URL('./migrations/', import.meta.url),
  periodic: [
    { name: 'abandoned-imports', everyMs: 10 * 60 * 1000, task: AbandonedImports },
    { name: 'clear-trash', everyMs: clearTrashEveryMs, task: DatasetTrash },
  ],
})
