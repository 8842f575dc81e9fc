import { definePlugin, Extractors, provide } from 'pounce/sdk'
import { PdfExtractor } from './pdf-extractor.ts'

export const plugin = definePlugin({
  id: 'extractors.pdf',
  summary: 'Text, page count, document information and first page of PDF documents.',
  isSwitchable: true,
  provides: [provide(Extractors, PdfExtractor)],
})
