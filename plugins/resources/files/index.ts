import {
  BlobOwners,
  BulkOperations,
  Commands,
  DamageReports,
  definePlugin,
  FileIngest,
  Files,
  on,
  onBatch,
  PersonalDataSources,
  provide,
  SessionSources,
} from 'pounce/sdk'
import { FileBulkOperations } from './bulk-operations.ts'
import { uploadBatches, uploadBatchFiles, usedFileIds } from './collection.ts'
import { DamageDoctor } from './damage-doctor.ts'
import { EnqueueImportedFiles } from './enqueue-imported-files.ts'
import { DeleteDamageOnFileRemoved, damagedFiles, FileDamage } from './file-damage.ts'
import { FileIngestService } from './file-ingest.ts'
import { FileLinks, fileLinks, PersonalLinks, RevokeLinksOnUserUpdated } from './file-links.ts'
import { NotifyAdminsOfArchivedFileRequest, NotifyAdminsOfDamage, NotifyOfQuarantine } from './file-notifications.ts'
import { quarantinedFiles } from './file-quarantine.ts'
import { DetachFilesOnDatasetRemoved, DetachFilesOnFolderRemoved } from './handlers.ts'
import { MissingBlobsCheck } from './missing-blobs-check.ts'
import { DetachRemovedPlaces, UpdatePlacesOnFolderMoved } from './place-changes.ts'
import { PlaceDoctor } from './place-doctor.ts'
import { fileResource } from './resource.ts'
import * as routes from './routes.ts'
import * as bulkRoutes from './routes-bulk.ts'
import * as linkRoutes from './routes-links.ts'
import * as quarantineRoutes from './routes-quarantine.ts'
import * as sharingRoutes from './routes-sharing.ts'
import * as uploadRoutes from './routes-upload.ts'
import * as urlRoutes from './routes-upload-url.ts'
import { DeleteQuarantineOnFileRemoved, RescanCommand, ScanNewFile } from './scan-files.ts'
import { Scrub, ScrubCommand, scrubs } from './scrub.ts'
import { config, FileBlobs, StoredFiles, UrlUploadCapability } from './stored-files.ts'
import { PersonalBatches, UploadBatches } from './upload-batches.ts'

export const plugin = definePlugin({
  id: 'resources.files',
  summary: 'Files: contents with a name, a type and a place in datasets and folders.',
  config,
  resources: [fileResource],
  services: [MissingBlobsCheck],
  provides: [
    provide(Files, StoredFiles),
    provide(DamageReports, FileDamage),
    provide(Commands, ScrubCommand),
    provide(Commands, DamageDoctor),
    provide(Commands, PlaceDoctor),
    provide(Commands, RescanCommand),
    provide(FileIngest, FileIngestService),
    provide(BulkOperations, FileBulkOperations),
    provide(BlobOwners, FileBlobs),
    provide(PersonalDataSources, PersonalLinks),
    provide(SessionSources, UrlUploadCapability),
    provide(PersonalDataSources, PersonalBatches),
  ],
  routes: {
    ...routes,
    ...uploadRoutes,
    ...urlRoutes,
    ...bulkRoutes,
    ...sharingRoutes,
    ...linkRoutes,
    ...quarantineRoutes,
  },
  collections: [fileLinks, damagedFiles, scrubs, quarantinedFiles, uploadBatches, uploadBatchFiles, usedFileIds],
  migrations: new URL('./migrations/', import.meta.url),
  handlers: [
    onBatch(['file.batched'], UploadBatches, 'batches'),
    on('dataset.removed', DetachFilesOnDatasetRemoved, 'leave-dataset'),
    on('folder.removed', DetachFilesOnFolderRemoved, 'leave-folder'),
    on('dataset.imported', EnqueueImportedFiles, 'tell-imported'),
    on('folder.moved', UpdatePlacesOnFolderMoved, 'follow-folder'),
    on(['file.attached', 'file.moved'], DetachRemovedPlaces, 'settle-places'),
    onBatch(['file.removed'], FileLinks, 'links'),
    on('user.updated', RevokeLinksOnUserUpdated, 'end-links'),
    on('file.wanted-from-archive', NotifyAdminsOfArchivedFileRequest, 'tell-admins'),
    on('file.damaged', NotifyAdminsOfDamage, 'tell-damage'),
    onBatch(['file.removed'], DeleteDamageOnFileRemoved, 'forget-damage'),
    on('file.scan-due', ScanNewFile, 'scan-new-file'),
    on('file.quarantined', NotifyOfQuarantine, 'tell-quarantine'),
    onBatch(['file.removed'], DeleteQuarantineOnFileRemoved, 'leave-quarantine'),
  ],
  periodic: [
    { name: 'complete-batches', everyMs: 10 * 1000, task: UploadBatches },
    { name: 'ended-links', everyMs: 24 * 60 * 60 * 1000, task: FileLinks },
    { name: 'scrub', everyMs: 60 * 60 * 1000, task: Scrub },
  ],
})
