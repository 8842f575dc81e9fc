import { BlobOwners, definePlugin, on, Previews, provide, RightsOf } from 'pounce/sdk'
import { BytesOf, DerivedBytes } from './bytes-of.ts'
import { previews, thumbnails } from './collections.ts'
import { DerivedBlobs } from './derived-blobs.ts'
import { PreviewRights, ThumbnailRights } from './derived-rights.ts'
import { Derived, DerivedStore } from './derived-store.ts'
import { FollowTarget } from './follow-target.ts'
import { Matching, PreviewMatching } from './matching.ts'
import * as routes from './routes.ts'
import { ShowThumbnail } from './show-thumbnail.ts'
import { PreviewDesk, StoredPreviews } from './stored-previews.ts'

export const plugin = definePlugin({
  id: 'resources.previews',
  summary: 'Previews and thumbnails: derived files that show what a file holds.',
  provides: [
    provide(Previews, StoredPreviews),
    provide(PreviewDesk, StoredPreviews),
    provide(Derived, DerivedStore),
    provide(Matching, PreviewMatching),
    provide(BytesOf, DerivedBytes),
    provide(RightsOf, PreviewRights),
    provide(RightsOf, ThumbnailRights),
    provide(BlobOwners, DerivedBlobs),
  ],
  routes,
  collections: [previews, thumbnails],
  handlers: [on('thumbnail.attached', ShowThumbnail), on(['file.removed', 'dataset.removed', 'collection.removed'], FollowTarget)],
})
