import { ContentCounts, definePlugin, provide } from 'pounce/sdk'
import { Copies, DatasetCopies } from './copies.ts'
import { Creation, DatasetCreation } from './creation.ts'
import { FileCounts } from './file-counts.ts'
import { DatasetFilePlaces, FilePlaces } from './file-places.ts'
import * as routes from './routes.ts'
import * as copyRoutes from './routes-copies.ts'
import * as placeRoutes from './routes-places.ts'

export const plugin = definePlugin({
  id: 'resources.dataset-files',
  summary: 'What takes datasets and files alike: making a dataset of files that are there already, moving files between datasets.',
  provides: [
    provide(DatasetFilePlaces, FilePlaces),
    provide(DatasetCopies, Copies),
    provide(DatasetCreation, Creation),
    provide(ContentCounts, FileCounts),
  ],
  routes: { ...routes, ...placeRoutes, ...copyRoutes },
})
