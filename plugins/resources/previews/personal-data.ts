import { personalRecords } from 'pounce/sdk'
import { previews, thumbnails, tiles } from './collections.ts'

export const PersonalPreviews = personalRecords({
  name: 'previews',
  summary: 'Previews that you or extractors in your name uploaded.',
  in: previews,
  isOf: ({ author }, { id }) => author === id,
  show: ({ id, target, title, filename, contentType, sizeBytes, created }) => ({
    id,
    target,
    title,
    filename,
    contentType,
    sizeBytes,
    created,
  }),
})

export const PersonalThumbnails = personalRecords({
  name: 'thumbnails',
  summary: 'Thumbnails that you or extractors in your name uploaded.',
  in: thumbnails,
  isOf: ({ author }, { id }) => author === id,
  show: ({ id, target, filename, contentType, sizeBytes, created }) => ({ id, target, filename, contentType, sizeBytes, created }),
})

export const PersonalTiles = personalRecords({
  name: 'preview-tiles',
  summary: 'Tiles of previews that you or extractors in your name uploaded.',
  in: tiles,
  isOf: ({ author }, { id }) => author === id,
  show: ({ id, preview, filename, contentType, sizeBytes, created }) => ({ id, preview, filename, contentType, sizeBytes, created }),
})
