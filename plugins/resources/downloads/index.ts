import { Archives, definePlugin, provide } from 'pounce/sdk'
import { StreamedArchives } from './archive-writer.ts'
import * as datasetRoutes from './routes-datasets.ts'
export const plugin = definePlugin({
  id: 'resources.downloads',
  summary: 'Downloads of datasets, folders, collections and selected files as ZIPs and bags.',
  provides: [provide(Archives, StreamedArchives)],
  routes: datasetRoutes,
})
