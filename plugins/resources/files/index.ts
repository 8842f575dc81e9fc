import { BlobOwners, definePlugin, FileIntake, Files, on, provide, ReportSources, RightsOf, Searchables, TreeBranches } from 'pounce/sdk'
import { files } from './collection.ts'
import { Downloads, FileDownloads } from './downloads.ts'
import { FileBlobs } from './file-blobs.ts'
import { FileBranch } from './file-branch.ts'
import { FileRights } from './file-rights.ts'
import { LeaveDataset, LeaveFolder } from './handlers.ts'
import { FileListing, Listing } from './listing.ts'
import { FileRemoval, Removal } from './removal.ts'
import { FileSource } from './report-source.ts'
import * as routes from './routes.ts'
import * as followRoutes from './routes-follow.ts'
import * as uploadRoutes from './routes-upload.ts'
import * as urlRoutes from './routes-upload-url.ts'
import { SearchableFiles } from './searchable-files.ts'
import { config, StoredFiles } from './stored-files.ts'
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
    provide(FileIntake, Intake),
    provide(Uploads, Upload),
    provide(UrlUploads, UrlUpload),
    provide(RightsOf, FileRights),
    provide(Searchables, SearchableFiles),
    provide(BlobOwners, FileBlobs),
    provide(TreeBranches, FileBranch),
    provide(ReportSources, FileSource),
  ],
  routes: { ...routes, ...followRoutes, ...uploadRoutes, ...urlRoutes },
  collections: [files],
  handlers: [on('dataset.removed', LeaveDataset), on('folder.removed', LeaveFolder), on('dataset.imported', TellImported)],
})
