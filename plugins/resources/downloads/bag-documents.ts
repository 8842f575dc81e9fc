import { type CollectionRecord, type DatasetRecord, type FileRecord, type License, type Stored, s, type UserRecord } from 'pounce/sdk'
import { fullNameOf } from 'pounce/sdk/kit'

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Escapes text for XML 1.0; characters that XML cannot represent become U+FFFD. */
const escapeXml = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(/[&<>"]/g, character => escapes[character] as string)

/** An element with text or child elements. Attribute values are escaped like text. */
const element = (name: string, content: string | readonly string[], attributes: Readonly<Record<string, string>> = {}): string => {
  const written = Object.entries(attributes)
    .map(([attribute, value]) => ` ${attribute}="${escapeXml(value)}"`)
    .join('')
  const inner =
    typeof content === 'string' ? escapeXml(content) : `\n${content.map(line => `${line.replace(/^(?=<)/gm, '  ')}\n`).join('')}`
  return `<${name}${written}>${inner}</${name}>`
}

const xmlFile = (root: string): string => `<?xml version="1.0" encoding="UTF-8"?>\n${root}\n`

type User = UserRecord & Stored

/** The description of a dataset or collection. */
export interface BagSubject {
  readonly kind: 'dataset' | 'collection'
  readonly record: (DatasetRecord | CollectionRecord) & Stored
  /** Undefined when the account is deleted. */
  readonly author: User | undefined
  readonly spaces: readonly string[]
  /** Whether the downloading user may see the author's email address. */
  readonly showsEmail: boolean
}

/** The email address as in v1, or the name if the address is hidden. */
export const authorText = (author: User | undefined, showsEmail: boolean): string => {
  if (!author) return ''
  return showsEmail ? author.email : fullNameOf(author)
}

const holders: Readonly<Record<string, string>> = { license2: 'Creative Commons', license3: 'Public Domain Dedication' }

const licenseOf = (license: License, author: User | undefined) => ({
  licenseText: license.text,
  rightsHolder: license.rightsHolder || (license.type === 'license1' && author ? fullNameOf(author) : (holders[license.type] ?? 'None')),
  licenseType: license.type,
  licenseUrl: license.url,
  allowDownload: license.allowDownload,
})

const tagsOf = ({ tags }: { readonly tags: readonly { readonly name: string }[] }): readonly string[] => tags.map(({ name }) => name)

const isDataset = (record: BagSubject['record']): record is DatasetRecord & Stored => 'creators' in record

const creatorsOf = ({ record, author }: BagSubject): readonly string[] => {
  if (isDataset(record) && record.creators.length > 0) return record.creators
  return [(author && fullNameOf(author)) || ':unkn']
}

/** `_info.json` of a dataset or collection: v1's members, and further ones for imports. */
export const subjectInfo = ({ record, author, spaces, showsEmail }: BagSubject) => ({
  id: record.id,
  name: record.name,
  author: authorText(author, showsEmail),
  description: record.description,
  spaces: spaces.join(','),
  created: s.toV1Date(record.created),
  tags: tagsOf(record),
  ...(isDataset(record)
    ? { lastModified: s.toV1Date(record.modified), creators: record.creators, license: licenseOf(record.license, author) }
    : {}),
})

/** `<path>_info.json` of a file. */
export const fileInfo = (file: FileRecord & Stored, author: User | undefined, showsEmail: boolean) => ({
  id: file.id,
  filename: file.name,
  author: authorText(author, showsEmail),
  uploadDate: s.toV1Date(file.created),
  contentType: file.contentType,
  description: file.description,
  license: licenseOf(file.license, author),
  tags: tagsOf(file),
})

/** `metadata/datacite.xml`, DataCite 4. */
export const datacite = (subject: BagSubject, sizeBytes: number): string => {
  const { record, author } = subject
  const day = record.created.slice(0, 10)
  const personal = { nameType: 'Personal' }
  const rights = isDataset(record) ? record.license : undefined
  const parts = [
    element('identifier', ':none', { identifierType: 'DOI' }),
    element(
      'creators',
      creatorsOf(subject).map(name => element('creator', [element('creatorName', name)])),
    ),
    element('titles', [element('title', record.name)]),
    element('publisher', 'Clowder'),
    element('publicationYear', day.slice(0, 4)),
    element('resourceType', subject.kind === 'dataset' ? 'Dataset' : 'Collection', {
      resourceTypeGeneral: subject.kind === 'dataset' ? 'Dataset' : 'Collection',
    }),
    ...(record.tags.length === 0
      ? []
      : [
          element(
            'subjects',
            tagsOf(record).map(tag => element('subject', tag)),
          ),
        ]),
    ...(author
      ? [
          element('contributors', [
            element('contributor', [element('contributorName', fullNameOf(author), personal)], { contributorType: 'ContactPerson' }),
          ]),
        ]
      : []),
    element('dates', [
      element('date', day, { dateType: 'Created' }),
      ...(isDataset(record) ? [element('date', record.modified.slice(0, 10), { dateType: 'Updated' })] : []),
    ]),
    element('sizes', [element('size', `${sizeBytes} bytes`)]),
    ...(rights ? [element('rightsList', [element('rights', rights.text, rights.url === '' ? {} : { rightsURI: rights.url })])] : []),
    ...(record.description === ''
      ? []
      : [element('descriptions', [element('description', record.description, { descriptionType: 'Abstract' })])]),
  ]
  return xmlFile(
    element('resource', parts, {
      xmlns: 'http://datacite.org/schema/kernel-4',
      'xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance',
      'xsi:schemaLocation': 'http://datacite.org/schema/kernel-4 http://schema.datacite.org/meta/kernel-4/metadata.xsd',
    }),
  )
}

/** `metadata/clowder.xml`. */
export const clowderXml = (subject: BagSubject, baseUrl: string): string => {
  const { kind, record, author, showsEmail } = subject
  return xmlFile(
    element(kind === 'dataset' ? 'clowderDataset' : 'clowderCollection', [
      element('id', record.id),
      element('name', record.name),
      element('description', record.description),
      element(
        'tags',
        tagsOf(record).map(tag => element('tag', tag)),
      ),
      element('source', [
        element('authorId', record.author),
        element('authorName', author ? fullNameOf(author) : ''),
        element('authorEmail', author && showsEmail ? author.email : ''),
        element(
          'creators',
          creatorsOf(subject).map(name => element('creator', name)),
        ),
        element('created', record.created),
        element('url', `${baseUrl}/${kind}s/${record.id}`),
      ]),
    ]),
  )
}
