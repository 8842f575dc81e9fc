import { anonymousUserId, defineResource, type PreviewRecord, type Rights, type ThumbnailRecord } from 'pounce/sdk'
import { createdBy } from 'pounce/sdk/kit'
import { previews, thumbnails } from './collections.ts'

/**
 * An unattached preview belongs to its uploader; an attached one has the current rights of its target, and its uploader has none beyond
 * these.
 */
const rights = ({ author, target, job }: PreviewRecord | ThumbnailRecord): Rights => ({
  author: target ? '' : (author ?? anonymousUserId),
  spaces: [],
  isPublic: false,
  state: 'live',
  ...(target ? { parents: [target] } : {}),
  ...(job === undefined ? {} : { job }),
})

export const previewResource = defineResource<PreviewRecord>({
  kind: 'preview',
  collection: previews,
  view: 'ViewFile',
  rights,
  personalData: {
    name: 'previews',
    summary: 'Previews that you or extractors in your name uploaded.',
    ...createdBy<PreviewRecord>('target', 'title', 'filename', 'contentType', 'sizeBytes', 'created'),
  },
})

export const thumbnailResource = defineResource<ThumbnailRecord>({
  kind: 'thumbnail',
  collection: thumbnails,
  view: 'ViewFile',
  rights,
  personalData: {
    name: 'thumbnails',
    summary: 'Thumbnails that you or extractors in your name uploaded.',
    ...createdBy<ThumbnailRecord>('target', 'filename', 'contentType', 'sizeBytes', 'created'),
  },
})
