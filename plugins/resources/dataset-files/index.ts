import { BulkOperations, definePlugin, provide } from 'pounce/sdk'
import { MoveFiles } from './bulk-operations.ts'
import { CopyIntoPlace } from './copy-into-place.ts'
import * as routes from './routes.ts'
import * as copyRoutes from './routes-copies.ts'
import * as placeRoutes from './routes-places.ts'

export const plugin = definePlugin({
  id: 'resources.dataset-files',
  summary: 'Operations on both datasets and files: creating a dataset from existing files, moving files between datasets.',
  provides: [provide(BulkOperations, MoveFiles), provide(BulkOperations, CopyIntoPlace)],
  routes: { ...routes, ...placeRoutes, ...copyRoutes },
})
