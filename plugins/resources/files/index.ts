import {
  BlobOwners,
  definePlugin,
  FileIntake,
  Files,
  on,
  onBatch,
  provide,
  ReportSources,
  RightsOf,
  Searchables,
  TreeBranches,
} from 'pounce/sdk'
import { BulkRemoval, FileBulkRemoval } from './bulk-removal.ts'
import { files } from './collection.ts'
import { Downloads, FileDownloads } from './downloads.ts'
import { FileBlobs } from './file-blobs.ts'
import { FileBranch } from './file-branch.ts'
import { FileLinks, fileLinks, Links } from './file-links.ts'
import { FileRights } from './file-rights.ts'
import { LeaveDataset, LeaveFolder } from './handlers.ts'
import { FileListing, Listing } from './listing.ts'
import { Members, SpaceMembers } from './members.ts'
import { FollowFolder, SettlePlaces } from './place-changes.ts'
import { FileRemoval, Removal } from './removal.ts'
import { FileSource } from './report-source.ts'
import * as routes from './routes.ts'
import * as bulkRoutes from './routes-bulk.ts'
import * as followRoutes from './routes-follow.ts'
import * as sharingRoutes from './routes-sharing.ts'
import * as uploadRoutes from './routes-upload.ts'
import * as urlRoutes from './routes-upload-url.ts'
import { SearchableFiles } from './searchable-files.ts'
import { config, StoredFiles } from './stored-files.ts'
import { TellAdmins } from './tell-admins.ts'
import { TellImported } from './tell-imported.ts'
import { Upload, Uploads } from './upload.ts'
import { UrlUpload, UrlUploads } from './upload-by-url.ts'
import { Intake } from './upload-intake.ts'

export const plugin = definePlugin({
  id: 'resources.files',
  summary: 'Files: bytes with a name, a type and a place in datasets and folders.',
  config,
  provides: [
    provide(Files, StoredFiles),
    provide(FileDownloads, Downloads),
    provide(FileListing, Listing),
    provide(FileRemoval, Removal),
    provide(FileBulkRemoval, BulkRemoval),
    provide(FileLinks, Links),
    provide(Members, SpaceMembers),
    provide(FileIntake, Intake),
    provide(Uploads, Upload),
    provide(UrlUploads, UrlUpload),
    provide(RightsOf, FileRights),
    provide(Searchables, SearchableFiles),
    provide(BlobOwners, FileBlobs),
    provide(TreeBranches, FileBranch),
    provide(ReportSources, FileSource),
  ],
  routes: { ...routes, ...followRoutes, ...uploadRoutes, ...urlRoutes, ...bulkRoutes, ...sharingRoutes },
  collections: [files, fileLinks],
  handlers: [
    on('dataset.removed', LeaveDataset),
    on('folder.removed', LeaveFolder),
    on('dataset.imported', TellImported),
    on('folder.moved', FollowFolder),
    on(['file.attached', 'file.moved'], SettlePlaces),
    onBatch(['file.removed'], Links),
    on('file.wanted-from-archive', TellAdmins),
  ],
  periodic: [{ name: 'ended-links', everyMs: 24 * 60 * 60 * 1000, task: Links }],
})
