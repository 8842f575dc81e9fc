import { definePlugin, Extractors, provide } from 'pounce/sdk'
import { ZipExtractor } from './zip-extractor.ts'

export const plugin = definePlugin({
  id: 'extractors.zip',
  summary: 'What is in ZIP archives, without unpacking them.',
  isSwitchable: true,
  provides: [provide(Extractors, ZipExtractor)],
})
