import type { Extractor, ExtractorInfo, ExtractorNeeds } from 'pounce/sdk'

/** PDF documents: text, information and a preview of the first page. */
export class PdfExtractor implements Extractor {
  readonly module = new URL('./extract.ts', import.meta.url)
  readonly timeoutMs = 4 * 60_000
  readonly memoryMb = 768
  readonly needs: ExtractorNeeds = { nativeAddons: true }
  readonly info: ExtractorInfo = {
    name: 'pounce.pdf',
    version: '1.0.0',
    description: 'Text, page count, document information and a picture of the first page of a PDF.',
    author: 'Pounce',
    contributors: [],
    contexts: [
      {
        pages: 'https://schema.org/numberOfPages',
        title: 'http://purl.org/dc/terms/title',
        author: 'http://purl.org/dc/terms/creator',
        subject: 'http://purl.org/dc/terms/subject',
        keywords: 'https://schema.org/keywords',
        created: 'http://purl.org/dc/terms/created',
        modified: 'http://purl.org/dc/terms/modified',
        text: 'https://schema.org/text',
      },
    ],
    repository: [],
    external_services: [],
    libraries: ['pdfjs-dist', '@napi-rs/canvas'],
    bibtex: [],
    maturity: 'Production',
    defaultLabels: [],
    process: { file: ['application/pdf', 'application/x-pdf'] },
    categories: ['EXTRACT'],
    parameters: {},
  }
}
