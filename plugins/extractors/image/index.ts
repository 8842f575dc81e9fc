import { definePlugin, Extractors, provide } from 'pounce/sdk'
import { ImageExtractor } from './image-extractor.ts'

export const plugin = definePlugin({
  id: 'extractors.image',
  summary: 'Thumbnails, previews, dimensions, EXIF and place of images.',
  isSwitchable: true,
  provides: [provide(Extractors, ImageExtractor)],
})
