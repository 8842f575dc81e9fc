import type { Extractor, ExtractorInfo, ExtractorNeeds } from 'pounce/sdk'

/** Images: properties, time and place, preview and thumbnail. */
export class ImageExtractor implements Extractor {
  readonly module = new URL('./extract.ts', import.meta.url)
  readonly timeoutMs = 2 * 60_000
  readonly memoryMb = 256
  readonly needs: ExtractorNeeds = { nativeAddons: true }
  readonly info: ExtractorInfo = {
    name: 'pounce.image',
    version: '1.0.0',
    description: 'Thumbnail, preview, dimensions, colour space, EXIF and GPS position of an image.',
    author: 'Pounce',
    contributors: [],
    contexts: [
      {
        width: 'https://schema.org/width',
        height: 'https://schema.org/height',
        takenAt: 'https://schema.org/dateCreated',
        location: 'https://schema.org/contentLocation',
        latitude: 'https://schema.org/latitude',
        longitude: 'https://schema.org/longitude',
        altitude: 'https://schema.org/elevation',
        exif: 'https://schema.org/exifData',
      },
    ],
    repository: [],
    external_services: [],
    libraries: ['sharp', 'exifr'],
    bibtex: [],
    maturity: 'Production',
    defaultLabels: [],
    process: { file: ['image/*'] },
    categories: ['EXTRACT'],
    parameters: {},
  }
}
