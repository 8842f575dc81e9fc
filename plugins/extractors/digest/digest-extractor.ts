import type { Extractor, ExtractorInfo } from 'pounce/sdk'

/** Checksums of any file, for comparison with a list made elsewhere. */
export class DigestExtractor implements Extractor {
  readonly module = new URL('./extract.ts', import.meta.url)
  readonly timeoutMs = 60 * 60_000
  // The same as for text, CSV and ZIP, so that their files can be hashed in the same process.
  readonly memoryMb = 256
  readonly info: ExtractorInfo = {
    name: 'pounce.digest',
    version: '1.0.0',
    description: 'SHA-256, SHA-512 and MD5 checksums of a file.',
    author: 'Pounce',
    contributors: [],
    contexts: [
      {
        sha256: 'http://id.loc.gov/vocabulary/preservation/cryptographicHashFunctions/sha256',
        sha512: 'http://id.loc.gov/vocabulary/preservation/cryptographicHashFunctions/sha512',
        md5: 'http://id.loc.gov/vocabulary/preservation/cryptographicHashFunctions/md5',
        sizeBytes: 'https://schema.org/contentSize',
      },
    ],
    repository: [],
    external_services: [],
    libraries: [],
    bibtex: [],
    maturity: 'Production',
    defaultLabels: [],
    process: { file: ['*/*'] },
    categories: ['EXTRACT'],
    parameters: {},
  }
}
