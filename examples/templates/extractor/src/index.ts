import { extname } from 'node:path'
import { definePlugin, type Extractor, type ExtractorInfo, Extractors, provide } from 'pounce/sdk'

/** Counts the words in text files. */
export class WordCount implements Extractor {
  /** The module is TypeScript here and JavaScript in the published package. */
  readonly module = new URL(`./extract${extname(import.meta.url)}`, import.meta.url)
  readonly timeoutMs = 60_000
  readonly memoryMb = 64
  readonly info: ExtractorInfo = {
    name: 'example.template',
    version: '0.1.0',
    description: 'Counts the lines and words of a text',
    author: '',
    contributors: [],
    contexts: [{ words: 'https://schema.org/wordCount' }],
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
  id: 'example.template',
  apiVersion: 1,
  summary: 'Counts the lines and words of texts.',
  provides: [provide(Extractors, WordCount)],
})
