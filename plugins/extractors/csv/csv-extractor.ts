import type { Extractor, ExtractorInfo } from 'pounce/sdk'

/** Tables as text: column statistics, and the first rows. */
export class CsvExtractor implements Extractor {
  readonly module = new URL('./extract.ts', import.meta.url)
  readonly timeoutMs = 60 * 60_000
  readonly memoryMb = 256
  readonly info: ExtractorInfo = {
    name: 'pounce.csv',
    version: '1.0.0',
    description: 'Columns with types and ranges, row count and first rows of a table in CSV or TSV.',
    author: 'Pounce',
    contributors: [],
    contexts: [
      {
        columns: 'http://www.w3.org/ns/csvw#column',
        name: 'http://www.w3.org/ns/csvw#name',
        delimiter: 'http://www.w3.org/ns/csvw#delimiter',
      },
    ],
    repository: [],
    external_services: [],
    libraries: ['csv-parse'],
    bibtex: [],
    maturity: 'Production',
    defaultLabels: [],
    process: {
      file: [
        ...['text/csv', 'text/x-csv', 'text/comma-separated-values', 'application/csv', 'application/x-csv'],
        ...['text/tab-separated-values', 'text/tsv'],
      ],
    },
    categories: ['EXTRACT'],
    parameters: {},
  }
}
