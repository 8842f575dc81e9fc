import type { Extractor, ExtractorInfo } from 'pounce/sdk'

/** Text subtypes of `application`, as registered or as sent by servers and browsers. */
const textual = [
  ...['json', 'ld+json', 'geo+json', 'schema+json', 'manifest+json', 'json5', 'x-ndjson', 'jsonl', 'x-ipynb+json'],
  ...['xml', 'xhtml+xml', 'rdf+xml', 'gpx+xml', 'gml+xml', 'xml-dtd', 'xslt+xml', 'mathml+xml'],
  ...['yaml', 'x-yaml', 'toml', 'javascript', 'x-javascript', 'ecmascript', 'typescript', 'node', 'sql', 'graphql'],
  ...['x-sh', 'x-shellscript', 'x-csh', 'x-perl', 'x-httpd-php', 'x-python', 'x-ruby', 'x-tcl', 'x-tex', 'x-latex', 'x-bibtex'],
  ...['n-triples', 'n-quads', 'trig', 'sparql-query', 'x-subrip'],
]

/** Text of any size: encoding, length and beginning. */
export class TextExtractor implements Extractor {
  readonly module = new URL('./extract.ts', import.meta.url)
  readonly timeoutMs = 30 * 60_000
  readonly memoryMb = 256
  readonly info: ExtractorInfo = {
    name: 'pounce.text',
    version: '1.1.0',
    description:
      'Encoding, line endings, line, word and character counts of a text, and a preview; the beginning of prose, to be searched; Markdown is shown formatted.',
    author: 'Pounce',
    contributors: [],
    contexts: [
      {
        encoding: 'https://schema.org/encodingFormat',
        words: 'https://schema.org/wordCount',
        title: 'http://purl.org/dc/terms/title',
        text: 'https://schema.org/text',
      },
    ],
    repository: [],
    external_services: [],
    libraries: ['marked', 'sanitize-html'],
    bibtex: [],
    maturity: 'Production',
    defaultLabels: [],
    process: { file: ['text/*', ...textual.map(subtype => `application/${subtype}`)] },
    categories: ['EXTRACT'],
    parameters: {},
  }
}
