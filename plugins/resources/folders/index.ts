import { ContentCounts, definePlugin, Folders, on, PersonalDataSources, provide, RightsOf, TreeBranches } from 'pounce/sdk'
import { folders } from './collection.ts'
import { FolderBranch } from './folder-branch.ts'
import { FolderCounts } from './folder-counts.ts'
import { FolderMoves } from './folder-moves.ts'
import { FolderRights } from './folder-rights.ts'
import { DeleteFoldersOnDatasetRemoved, DeleteSubfoldersOnFolderRemoved } from './handlers.ts'
import { PersonalFolders } from './personal-data.ts'
import * as routes from './routes.ts'
import { StoredFolders } from './stored-folders.ts'

export const plugin = definePlugin({
  id: 'resources.folders',
  summary: 'Folders in datasets.',
  provides: [
    provide(Folders, StoredFolders),
    provide(RightsOf, FolderRights),
    provide(TreeBranches, FolderBranch),
    provide(ContentCounts, FolderCounts),
    provide(PersonalDataSources, PersonalFolders),
  ],
  routes,
  collections: [folders],
  handlers: [
    on('folder.removed', DeleteSubfoldersOnFolderRemoved, 'leave-parent'),
    on('dataset.removed', DeleteFoldersOnDatasetRemoved, 'leave-dataset'),
    on('folder.moved', FolderMoves, 'folder-moves'),
  ],
})
