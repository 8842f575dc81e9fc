import { ContentCounts, definePlugin, Folders, on, provide, RightsOf, TreeBranches } from 'pounce/sdk'
import { folders } from './collection.ts'
import { FolderBranch } from './folder-branch.ts'
import { FolderCounts } from './folder-counts.ts'
import { FolderMoves, FolderMoving } from './folder-moves.ts'
import { FolderPlaces, Places } from './folder-places.ts'
import { FolderRights } from './folder-rights.ts'
import { FolderTree, FolderTrees } from './folder-tree.ts'
import { LeaveDataset, LeaveParent } from './handlers.ts'
import * as routes from './routes.ts'
import { StoredFolders } from './stored-folders.ts'

export const plugin = definePlugin({
  id: 'resources.folders',
  summary: 'Folders of datasets.',
  provides: [
    provide(Folders, StoredFolders),
    provide(FolderTrees, FolderTree),
    provide(Places, FolderPlaces),
    provide(FolderMoving, FolderMoves),
    provide(RightsOf, FolderRights),
    provide(TreeBranches, FolderBranch),
    provide(ContentCounts, FolderCounts),
  ],
  routes,
  collections: [folders],
  handlers: [on('folder.removed', LeaveParent), on('dataset.removed', LeaveDataset), on('folder.moved', FolderMoves)],
})
