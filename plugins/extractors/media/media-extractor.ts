import type { Extractor, ExtractorInfo, ExtractorNeeds } from 'pounce/sdk'

/** Audio and video: duration and tracks. */
export class MediaExtractor implements Extractor {
  readonly module = new URL('./extract.ts', import.meta.url)
  readonly timeoutMs = 2 * 60_000
  readonly memoryMb = 128
  readonly needs: ExtractorNeeds = { childProcesses: true }
  readonly info: ExtractorInfo = {
    name: 'pounce.media',
    version: '1.0.0',
    description: 'Duration, bit rate, codecs and streams of audio and video, by ffprobe when it is installed.',
    author: 'Pounce',
    contributors: [],
    contexts: [
      {
        durationSeconds: 'https://schema.org/duration',
        bitRate: 'https://schema.org/bitrate',
        container: 'https://schema.org/encodingFormat',
        title: 'http://purl.org/dc/terms/title',
        artist: 'http://purl.org/dc/terms/creator',
      },
    ],
    repository: [],
    external_services: [],
    libraries: ['ffprobe'],
    bibtex: [],
    maturity: 'Production',
    defaultLabels: [],
    process: { file: ['audio/*', 'video/*', 'application/ogg', 'application/mxf'] },
    categories: ['EXTRACT'],
    parameters: {},
  }
}
