import { definePlugin, type Extractor, type ExtractorInfo, Extractors, provide } from 'pounce/sdk'

/** Estimates how long it takes to read a text. */
export class ReadingTime implements Extractor {
  readonly module = new URL('./extract.ts', import.meta.url)
  readonly timeoutMs = 60_000
  readonly memoryMb = 64
  readonly info: ExtractorInfo = {
    name: 'example.reading-time',
    version: '1.0.0',
    description: 'Estimated reading time of a text',
    author: 'Somebody else',
    contributors: [],
    contexts: [{ minutes: 'https://schema.org/timeRequired' }],
    repository: [],
    external_services: [],
    libraries: [],
    bibtex: [],
    maturity: 'Development',
    defaultLabels: [],
    process: { file: ['text/*'] },
    categories: ['EXTRACT'],
    parameters: {},
  }
}

export const plugin = definePlugin({
  id: 'example.reading-time',
  summary: 'Reading time of texts.',
  isSwitchable: true,
  provides: [provide(Extractors, ReadingTime)],
})
