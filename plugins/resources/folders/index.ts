import { BulkOperations, Commands, definePlugin, Folders, on, provide } from 'pounce/sdk'
import { FolderBulkOperations } from './bulk-operations.ts'
import { FolderDoctor } from './folder-doctor.ts'
import { FolderMoves } from './folder-moves.ts'
import { DeleteFoldersOnDatasetRemoved, DeleteSubfoldersOnFolderRemoved } from './handlers.ts'
import { folderResource } from './resource.ts'
import * as routes from './routes.ts'
import { StoredFolders } from './stored-folders.ts'

export const plugin = definePlugin({
  id: 'resources.folders',
  summary: 'Folders in datasets.',
  resources: [folderResource],
  provides: [provide(Folders, StoredFolders), provide(BulkOperations, FolderBulkOperations), provide(Commands, FolderDoctor)],
  routes,
  handlers: [
    on('folder.removed', DeleteSubfoldersOnFolderRemoved, 'leave-parent'),
    on('dataset.removed', DeleteFoldersOnDatasetRemoved, 'leave-dataset'),
    on(['folder.created', 'folder.moved'], FolderMoves, 'folder-moves'),
  ],
})
