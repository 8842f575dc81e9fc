import type { Extractor, ExtractorInfo } from 'pounce/sdk'

/** As archives are declared, and as uploads call them after what is in them. */
const types: readonly string[] = [
  ...['application/zip', 'application/x-zip-compressed', 'application/x-zip', 'multi/files-zipped', 'multi/video-presentation-zipped'],
  ...['model/obj-zipped', 'model/x3d-zipped', 'model/sfm-zipped', 'imageset/ptmimages-zipped'],
]

/** ZIP archives: directory, totals and anomalies. Nothing is unpacked. */
export class ZipExtractor implements Extractor {
  readonly module = new URL('./extract.ts', import.meta.url)
  readonly timeoutMs = 2 * 60_000
  readonly memoryMb = 256
  readonly info: ExtractorInfo = {
    name: 'pounce.zip',
    version: '1.0.0',
    description: 'Listing, totals and compression ratio of a ZIP archive, and warnings about unsafe entries.',
    author: 'Pounce',
    contributors: [],
    contexts: [{ comment: 'https://schema.org/comment', uncompressedBytes: 'https://schema.org/size' }],
    repository: [],
    external_services: [],
    libraries: ['yauzl'],
    bibtex: [],
    maturity: 'Production',
    defaultLabels: [],
    process: { file: [...types] },
    categories: ['EXTRACT'],
    parameters: {},
  }
}
