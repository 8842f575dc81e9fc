import { personalRecords } from 'pounce/sdk'
import { tiles } from './collections.ts'

export const PersonalTiles = personalRecords({
  name: 'preview-tiles',
  summary: 'Tiles of previews that you or extractors in your name uploaded.',
  in: tiles,
  isOf: ({ author }, { id }) => author === id,
  show: ({ id, preview, filename, contentType, sizeBytes, created }) => ({ id, preview, filename, contentType, sizeBytes, created }),
})
