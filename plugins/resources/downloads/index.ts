import { Archives, definePlugin, provide } from 'pounce/sdk'
import { ArchiveWriter, ArchiveWriting } from './archive-writer.ts'
import { StreamedArchives } from './archives.ts'
import { ArchiveContents, Contents } from './contents.ts'
import * as datasetRoutes from './routes-datasets.ts'
import { DownloadTallies, Tallies } from './tallies.ts'

export const plugin = definePlugin({
  id: 'resources.downloads',
  summary: 'Downloads of many files: datasets, folders, collections and choices of files as ZIPs and bags.',
  provides: [
    provide(Archives, StreamedArchives),
    provide(ArchiveContents, Contents),
    provide(ArchiveWriting, ArchiveWriter),
    provide(DownloadTallies, Tallies),
  ],
  routes: { ...datasetRoutes },
})
