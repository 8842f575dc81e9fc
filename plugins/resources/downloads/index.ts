import { Archives, definePlugin, PersonalDataSources, provide } from 'pounce/sdk'
import { StreamedArchives } from './archive-writer.ts'
import { ChosenArchives, chosenArchives, PersonalArchives } from './chosen-archives.ts'
import * as archiveRoutes from './routes-archives.ts'
import * as datasetRoutes from './routes-datasets.ts'
export const plugin = definePlugin({
  id: 'resources.downloads',
  summary: 'Downloads of datasets, folders, collections and selected files as ZIPs and bags.',
  provides: [provide(Archives, StreamedArchives), provide(PersonalDataSources, PersonalArchives)],
  routes: { ...datasetRoutes, ...archiveRoutes },
  collections: [chosenArchives],
  periodic: [{ name: 'forget-archives', everyMs: 60 * 60 * 1000, task: ChosenArchives }],
})
