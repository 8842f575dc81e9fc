import { definePlugin, Extractors, provide } from 'pounce/sdk'
import { TextExtractor } from './text-extractor.ts'

export const plugin = definePlugin({
  id: 'extractors.text',
  summary: 'Encoding, line and word counts, and previews of text, Markdown and code.',
  isSwitchable: true,
  provides: [provide(Extractors, TextExtractor)],
})
