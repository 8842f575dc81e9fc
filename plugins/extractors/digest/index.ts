import { definePlugin, Extractors, provide } from 'pounce/sdk'
import { DigestExtractor } from './digest-extractor.ts'

export const plugin = definePlugin({
  id: 'extractors.digest',
  summary: 'Checksums of every file as metadata: SHA-256, SHA-512 and MD5.',
  isSwitchable: true,
  provides: [provide(Extractors, DigestExtractor)],
})
