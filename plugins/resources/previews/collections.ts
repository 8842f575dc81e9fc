import { collection, type PreviewRecord, type ThumbnailRecord } from 'pounce/sdk'

/** Previews; those of one thing in the order they came. */
export const previews = collection<PreviewRecord>('previews', {
  byTarget: { on: ['target.id', 'created'] },
  byBlob: { on: ['blob'] },
})

/** Thumbnails. */
export const thumbnails = collection<ThumbnailRecord>('thumbnails', {
  byTarget: { on: ['target.id'] },
  byBlob: { on: ['blob'] },
})
