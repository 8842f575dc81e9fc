import { BlobOwners, definePlugin, on, onBatch, Previews, provide, RightsOf } from 'pounce/sdk'
import { AttachDesk, Attaching } from './attaching.ts'
import { BytesOf, DerivedBytes } from './bytes-of.ts'
import { ChooseThumbnails } from './choose-thumbnails.ts'
import { previews, thumbnails, tiles } from './collections.ts'
import { DerivedBlobs } from './derived-blobs.ts'
import { PreviewRights, ThumbnailRights } from './derived-rights.ts'
import { Derived, DerivedStore } from './derived-store.ts'
import { DropOrphan, FollowPreview, FollowTarget } from './follow-target.ts'
import { Matching, PreviewMatching } from './matching.ts'
import * as routes from './routes.ts'
import * as attachRoutes from './routes-attach.ts'
import * as thumbnailRoutes from './routes-thumbnails.ts'
import * as tileRoutes from './routes-tiles.ts'
import { BringThumbnail, ShowDesk, Showing, ShowThumbnail } from './show-thumbnail.ts'
import { PreviewDesk, StoredPreviews } from './stored-previews.ts'
import { StoredThumbnails, ThumbnailDesk } from './stored-thumbnails.ts'
import { StoredTiles, TileDesk } from './stored-tiles.ts'
import { SweepUnattached } from './sweep-unattached.ts'

export const plugin = definePlugin({
  id: 'resources.previews',
  summary: 'Previews, thumbnails and tiles: derived files that show what a file holds.',
  provides: [
    provide(Previews, StoredPreviews),
    provide(PreviewDesk, StoredPreviews),
    provide(ThumbnailDesk, StoredThumbnails),
    provide(TileDesk, StoredTiles),
    provide(AttachDesk, Attaching),
    provide(ShowDesk, Showing),
    provide(Derived, DerivedStore),
    provide(Matching, PreviewMatching),
    provide(BytesOf, DerivedBytes),
    provide(RightsOf, PreviewRights),
    provide(RightsOf, ThumbnailRights),
    provide(BlobOwners, DerivedBlobs),
  ],
  routes: { ...routes, ...attachRoutes, ...thumbnailRoutes, ...tileRoutes },
  collections: [previews, thumbnails, tiles],
  handlers: [
    on('thumbnail.attached', ShowThumbnail),
    on(['file.attached', 'dataset.attached'], BringThumbnail),
    onBatch(['file.removed', 'file.detached', 'dataset.detached', 'preview.removed'], ChooseThumbnails),
    onBatch(['file.removed', 'dataset.removed', 'collection.removed', 'section.removed'], FollowTarget),
    on('preview.removed', FollowPreview),
    on(['preview.attached', 'thumbnail.attached'], DropOrphan),
  ],
  periodic: [{ name: 'unattached', everyMs: 6 * 60 * 60 * 1000, task: SweepUnattached }],
})
