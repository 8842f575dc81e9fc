import { BlobOwners, definePlugin, on, onBatch, PersonalDataSources, Previews, provide } from 'pounce/sdk'
import { AssignThumbnailOnAttached, AssignThumbnailOnPlaced, ReplaceRemovedThumbnails } from './assign-thumbnail-on-attached.ts'
import { PersonalTiles, tiles } from './collections.ts'
import { DeleteOrphanedPreview, DeletePreviewsOnTargetRemoved, DeleteTilesOnPreviewRemoved } from './delete-with-target.ts'
import { DerivedBlobs, SweepUnattached } from './derived-store.ts'
import { previewResource, thumbnailResource } from './resource.ts'
import * as routes from './routes.ts'
import * as thumbnailRoutes from './routes-thumbnails.ts'
import { StoredPreviews } from './stored-previews.ts'

export const plugin = definePlugin({
  id: 'resources.previews',
  summary: "Previews, thumbnails and tiles: derived images and documents that show a file's content.",
  resources: [previewResource, thumbnailResource],
  provides: [provide(Previews, StoredPreviews), provide(BlobOwners, DerivedBlobs), provide(PersonalDataSources, PersonalTiles)],
  routes: { ...routes, ...thumbnailRoutes },
  collections: [tiles],
  migrations: new URL('./migrations/', import.meta.url),
  handlers: [
    on('thumbnail.attached', AssignThumbnailOnAttached, 'show-thumbnail'),
    on(['file.attached', 'dataset.attached'], AssignThumbnailOnPlaced, 'bring-thumbnail'),
    onBatch(['file.removed', 'file.detached', 'dataset.detached', 'preview.removed'], ReplaceRemovedThumbnails, 'choose-thumbnails'),
    onBatch(['file.removed', 'dataset.removed', 'collection.removed', 'section.removed'], DeletePreviewsOnTargetRemoved, 'follow-target'),
    on('preview.removed', DeleteTilesOnPreviewRemoved, 'follow-preview'),
    on(['preview.attached', 'thumbnail.attached'], DeleteOrphanedPreview, 'drop-orphan'),
  ],
  periodic: [{ name: 'unattached', everyMs: 6 * 60 * 60 * 1000, task: SweepUnattached }],
})
