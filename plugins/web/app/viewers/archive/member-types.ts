/** Maximum size of a member, which is unpacked into memory. */
export const maxMemberBytes = 200_000_000

const types: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  json: 'application/json',
  xml: 'application/xml',
  md: 'text/markdown',
  pdf: 'application/pdf',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  bmp: 'image/bmp',
  ipynb: 'application/x-ipynb+json',
  parquet: 'application/vnd.apache.parquet',
}

/** The extension of a name in lower case, without the dot; empty if none. */
export const endingOf = (name: string): string => (name.includes('.') ? (name.toLowerCase().split('.').at(-1) ?? '') : '')

/** The media type of a member, by its extension. */
export const typeOfMember = (name: string): string => types[endingOf(name)] ?? 'application/octet-stream'
