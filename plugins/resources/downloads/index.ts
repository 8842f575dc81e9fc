import { Archives, definePlugin, provide } from 'pounce/sdk'
import { ArchiveWriter, ArchiveWriting } from './archive-writer.ts'
import { StreamedArchives } from './archives.ts'
import { Bags, BagWriting } from './bags.ts'
import { CollectionShelves, CollectionShelving } from './collection-contents.ts'
import { ArchiveContents, Contents } from './contents.ts'
import { DatasetDownloading, DatasetDownloads } from './dataset-downloads.ts'
import * as collectionRoutes from './routes-collections.ts'
import * as datasetRoutes from './routes-datasets.ts'
import { BagSubjecting, BagSubjects } from './subjects.ts'
import { DownloadTallies, Tallies } from './tallies.ts'

export const plugin = definePlugin({
  id: 'resources.downloads',
  summary: 'Downloads of many files: datasets, folders, collections and choices of files as ZIPs and bags.',
  provides: [
    provide(Archives, StreamedArchives),
    provide(ArchiveContents, Contents),
    provide(ArchiveWriting, ArchiveWriter),
    provide(BagSubjecting, BagSubjects),
    provide(BagWriting, Bags),
    provide(CollectionShelving, CollectionShelves),
    provide(DatasetDownloading, DatasetDownloads),
    provide(DownloadTallies, Tallies),
  ],
  routes: { ...datasetRoutes, ...collectionRoutes },
})
