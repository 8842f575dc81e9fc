import { definePlugin, Extractors, provide } from 'pounce/sdk'
import { MediaExtractor } from './media-extractor.ts'

export const plugin = definePlugin({
  id: 'extractors.media',
  summary: 'Duration, codecs and streams of audio and video.',
  isSwitchable: true,
  provides: [provide(Extractors, MediaExtractor)],
})
