import { ContentCounts, definePlugin, provide } from 'pounce/sdk'
import { Archives, DatasetArchives } from './archives.ts'
import { Creation, DatasetCreation } from './creation.ts'
import { FileCounts } from './file-counts.ts'
import { DatasetFilePlaces, FilePlaces } from './file-places.ts'
import * as routes from './routes.ts'
import * as downloadRoutes from './routes-download.ts'
import * as placeRoutes from './routes-places.ts'
import { DownloadTallies, Tallies } from './tallies.ts'

export const plugin = definePlugin({
  id: 'resources.dataset-files',
  summary: 'What takes datasets and files alike: making a dataset of files, downloading it as a ZIP.',
  provides: [
    provide(DatasetArchives, Archives),
    provide(DatasetFilePlaces, FilePlaces),
    provide(DatasetCreation, Creation),
    provide(DownloadTallies, Tallies),
    provide(ContentCounts, FileCounts),
  ],
  routes: { ...routes, ...placeRoutes, ...downloadRoutes },
})
