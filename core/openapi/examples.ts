import { s } from 'pounce/sdk'
import { idPattern, type SchemaShape } from '../json-schema.ts'
import { anId, valuesByName } from './example-values.ts'

type Source = SchemaShape & Readonly<Record<string, unknown>>

/**
 * An example value of a schema: the first of its `examples`, or composed of its members' examples; otherwise derived from the
 * description ("Such as `…`"), the default, or the member's name. Undefined for bytes.
 */
export const exampleOf = (schema: SchemaShape, name = ''): unknown => {
  const source = schema as Source
  const { examples } = source
  if (Array.isArray(examples) && examples.length > 0) return examples[0]
  if ('const' in source) return source.const
  if (source.enum) return source.enum[0]
  const declared = suchAs(source)
  if (declared !== undefined) return declared
  if (source.default !== undefined && source.default !== '' && source.default !== null) return source.default
  if (source.allOf) return Object.assign({}, ...source.allOf.map(part => exampleOf(part, name)))
  const branches = source.anyOf ?? source.oneOf
  if (branches) return exampleOf(branches.find(({ type }) => type !== 'null') ?? {}, name)
  return ofType(source, name)
}

const ofType = (source: Source, name: string): unknown => {
  const type = Array.isArray(source.type) ? source.type[0] : source.type
  switch (type) {
    case 'object':
      return objectOf(source, name)
    case 'array':
      return arrayOf(source, name)
    case 'string':
      return textOf(source, name)
    case 'integer':
    case 'number':
      return numberOf(source, name)
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      // A body without a type is usually empty.
      return name in valuesByName ? valuesByName[name] : name === '' ? {} : { depth: 30 }
  }
}

const objectOf = ({ properties, patternProperties, additionalProperties, [s.modelName]: model }: Source, name: string): unknown => {
  const known = valuesByModel[typeof model === 'string' ? model : name] ?? {}
  const valueOfMember = (key: string, member: SchemaShape): unknown => {
    if (key in known) return known[key]
    const value = exampleOf(member, key)
    return key === 'id' && value === anId ? idOf(name) : value
  }
  if (properties) return Object.fromEntries(Object.entries(properties).map(([key, member]) => [key, valueOfMember(key, member)]))
  const further = Object.values(patternProperties ?? {})[0] ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined)
  const usual = valuesByName[name]
  if (typeof usual === 'object' && (further === undefined || Object.keys(further).length === 0)) return usual
  return further ? { depth: exampleOf(further, 'depth') } : {}
}

/** Nested objects get a different id. */
const idOf = (name: string): string => {
  const sum = Array.from(name).reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 0xffff, 0)
  return name === '' ? anId : `${anId.slice(0, -4)}${sum.toString(16).padStart(4, '0')}`
}

const arrayOf = ({ items, minItems = 1, ...rest }: Source, name: string): unknown => {
  const tuple = Array.isArray(items) ? items : (rest['prefixItems'] as readonly SchemaShape[] | undefined)
  if (tuple) return tuple.map(each => exampleOf(each, name))
  const item = exampleOf((items ?? {}) as SchemaShape, name in valuesByName ? name : name.replace(/ies$/, 'y').replace(/s$/, ''))
  return item === undefined ? [] : Array.from({ length: Math.max(minItems, 1) }, () => item)
}

const textOf = ({ format, pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Source, name: string): unknown => {
  if (pattern === idPattern) return anId
  const known = valuesByName[name]
  if (typeof known === 'string' && known.length >= minLength && known.length <= maxLength) return known
  if (format === 'binary') return undefined
  if (format === 'date-time') return '2026-03-05T10:15:00Z'
  if (format === 'date') return '2026-03-05'
  if (format === 'email') return 'ada@example.org'
  if (format === 'uri') return 'https://example.org/soil'
  return /(?:^id|Id|ID|_id|_ids)$/.test(name) ? anId : undefined
}

const numberOf = ({ minimum, maximum }: Source, name: string): unknown => {
  const known = valuesByName[name]
  if (typeof known === 'number' && known >= (minimum ?? known) && known <= (maximum ?? known)) return known
  return minimum ?? Math.min(maximum ?? 3, 3)
}

/** The example value in a description: "Such as `Wed Jun 20 11:40:25 UTC 2018`". */
const suchAs = ({ type, description = '' }: Source): string | undefined =>
  type === 'string' ? /\b[Ss]uch as `([^`]+)`/.exec(description)?.[1] : undefined

const aDataset = {
  ...{ id: anId, name: 'Soil samples', description: 'Cores of 30 cm from twelve plots', created: 'Wed Jun 20 11:40:25 UTC 2018' },
  ...{ thumbnail: null, authorId: '5b2a1c8e4f0c2d3a6b7e2a01', spaces: ['5b2a1c8e4f0c2d3a6b7e5bcc'], resource_type: 'dataset' },
}

/**
 * Example values of the members of single models and object members, where the member's name is not enough. An undefined member is omitted from the
 * example, because it belongs to another case.
 */
const valuesByModel: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  ApiKey: { name: 'notebook', key: '3f1c****' },
  NewApiKey: { name: 'notebook', key: '3f1c9ab2-7d5e-4b6a-8c0d-1e2f3a4b5c6d' },
  AuditEntry: { type: 'user.signed-in' },
  BulkJob: { act: 'delete', state: 'finished', ended: '2026-03-05T10:16:00Z', message: undefined },
  BulkOutcome: { type: 'file', state: 'failed', message: 'File not found or not accessible' },
  Bin: { year: 2026, month: 3, week: 10, day: 5, hour: 10, minute: 15, strings: undefined, array: undefined },
  Collection: { resource_type: 'collection' },
  CollectionDetails: { name: 'Field campaign 2026', spaces: 'List()', author: 'MiniUser(5b2a1c8e4f0c2d3a6b7e9f10,Ada Lovelace,,None)' },
  CollectionReport: { name: 'Field campaign 2026' },
  Comment: { comment_id: null, file_id: undefined, section_id: undefined },
  CurrentUser: { '@context': { firstName: 'http://schema.org/Person/givenName' } },
  DatapointStatistics: { last_time: '2026-03-05T10:15:00Z' },
  Extraction: { status: 'DONE' },
  Extractor: { name: 'ncsa.image.preview', description: 'Makes previews of images' },
  ExtractorInfo: {
    ...{ name: 'ncsa.image.preview', description: 'Makes previews of images', contexts: {}, parameters: {} },
    process: { file: ['image/*'] },
  },
  ExtractorLabel: { name: 'Images' },
  File: { status: 'PROCESSED', damaged: undefined, signature: undefined, filepath: undefined },
  FileReport: { name: 'samples.csv', status: 'PROCESSED' },
  FileStorageReport: { name: 'samples.csv' },
  FileSummary: { name: 'samples.csv', status: 'PROCESSED' },
  Entry: { kind: 'file', name: 'samples.csv', size: 2048, type: 'text/csv', status: 'PROCESSED', entries: null, path: undefined },
  Folder: { name: '/2026' },
  FullCollection: { name: 'Field campaign 2026', rights: ['EditCollection'], rootOf: [], parents: [], trashedAt: null },
  FullDataset: { rights: ['EditDataset', 'DownloadFiles'], collections: [], trashedAt: null },
  FullFile: {
    ...{ name: 'samples.csv', originalName: 'samples.csv', status: 'PROCESSED', rights: ['DownloadFiles'], showPreviews: 'DatasetLevel' },
    ...{ places: [], damaged: undefined },
  },
  FullSpace: { name: 'Soil laboratory', rights: ['EditSpace'], logoUrl: null, bannerUrl: null, requested: false },
  Group: { name: 'Soil laboratory', description: 'Who works in the laboratory' },
  ListedExtraction: { resource_type: 'file' },
  ListedFolder: { name: '/2026/march' },
  Logo: { name: 'logo.png', path: 'GLOBAL', 'content-type': 'image/png' },
  Member: { '@context': { firstName: 'http://schema.org/Person/givenName' } },
  Metadata: { '@context': 'https://clowder.ncsa.illinois.edu/contexts/metadata.jsonld' },
  MetadataDefinition: { spaceId: undefined },
  MetadataDefinitionChange: { type: 'number', definitions_url: undefined, query_parameter: undefined },
  MetadataOfFiles: { files: [anId] },
  MetadataReport: { message: 'Metadata was added to 11 of 12 files', added: [anId] },
  NewDatapoint: { type: 'Feature', end_time: '2017-01-25T09:33:02-06:00' },
  NewMetadataDefinition: { type: 'number', definitions_url: undefined, query_parameter: undefined },
  NewChildCollection: { name: 'March' },
  NewCollection: { name: 'Field campaign 2026' },
  NewExtractorLabel: { name: 'Images' },
  NewFolder: { name: 'march' },
  NewGroup: { name: 'Soil laboratory', description: 'Who works in the laboratory' },
  NewPasskey: { name: 'Laptop' },
  NewRole: { name: 'Curator', description: 'Edits descriptions' },
  NewSensor: { name: 'Plot 7', type: 'Feature' },
  NewSpace: { name: 'Soil laboratory', description: 'Data of the soil laboratory' },
  NewStream: { name: 'Water content', type: 'Feature' },
  Permission: { name: 'ViewDataset', description: 'View datasets and their folders' },
  Plugin: {
    ...{ id: 'extractors.csv', summary: 'Columns of tables', source: 'built-in', restartRequired: false },
    ...{ refusal: undefined, message: undefined, waitingEvents: 0 },
  },
  QuarantinedFile: { size: 68 },
  ReindexProgress: { state: 'done', problem: null },
  Role: { name: 'Editor', description: 'Adds and edits' },
  RoleChange: { name: 'Curator', description: 'Edits descriptions' },
  ResourceReport: { type: 'file', name: 'samples.csv', status: 'PROCESSED' },
  SearchFacets: {
    ...{ type: [{ value: 'file', count: 12 }], media_type: [{ value: 'text/csv', count: 9 }], year: [{ value: '2026', count: 12 }] },
    space: [{ value: '5b2a1c8e4f0c2d3a6b7e5bcc', name: 'Soil laboratory', count: 12 }],
    creator: [{ value: '5b2a1c8e4f0c2d3a6b7e2a01', name: 'Ada Lovelace', count: 12 }],
  },
  SearchHit: { name: 'samples.csv', type: 'text/csv' },
  SearchResult: {
    results: [aDataset],
    ...{ count: 1, size: 1, scanned_size: 1, from: 0, total_size: 1 },
    ...{ newest_first: undefined, first: undefined, prev: undefined, next: undefined, last: undefined },
  },
  SecondFactorLogin: { code: '123456', recoveryCode: undefined, passkey: undefined },
  Sensor: { name: 'Plot 7', parameters: ['depth'] },
  SensorStatistics: { parameters: ['depth'] },
  SignInProvider: { id: 'local', label: 'Local account', url: '/api/login' },
  Space: { name: 'Soil laboratory', description: 'Data of the soil laboratory' },
  SpaceChange: { name: 'Soil laboratory', description: 'Data of the soil laboratory' },
  SpaceMember: { name: 'Ada Lovelace' },
  SpaceReport: { name: 'Soil laboratory', description: 'Data of the soil laboratory' },
  SpaceRequest: { message: 'I work on plot 7' },
  StandardVocabulary: { url: 'https://data.example.org/api/standardvocab/5b2a1c8e4f0c2d3a6b7e9f10/terms' },
  Status: { plugins: { mongodb: true, elasticsearch: true }, storage: { type: 'disk' } },
  StepUp: { challenge: undefined, code: '123456', recoveryCode: undefined, passkey: undefined },
  Stream: { name: 'Water content' },
  Tag: { name: 'soil' },
  TotpEnrolment: { uri: 'otpauth://totp/Soil%20Data:ada%40example.org?secret=JBSWY3DPEHPK3PXP&issuer=Soil%20Data' },
  TreeNode: { text: 'Soil samples', data: {}, icon: 'glyphicon glyphicon-briefcase' },
  UploadFailure: { code: 'unprocessable', message: 'The source cannot be read' },
  UploadSource: { weburl: undefined, url: undefined, path: undefined, metadata: undefined },
  User: { '@context': { firstName: 'http://schema.org/Person/givenName' } },
  UserReport: { name: 'Ada Lovelace' },
  UserStorageReport: { name: 'Ada Lovelace' },
  Vocabulary: { name: 'Soil', isPublic: 'true', spaces: '' },
  VocabularySummary: { name: 'Soil' },
  NewVocabulary: { name: 'Soil' },
  VocabularyChange: { name: 'Soil' },
  WebhookAttempt: { status: 204, error: undefined },
  WebhookDelivery: { type: 'file.created', state: 'delivered', dueAt: undefined, tries: 1, event: undefined },
  agent: { name: 'Ada Lovelace', extractor_id: undefined },
  folders: { name: '2026' },
  author: { name: 'Ada Lovelace' },
  group: { name: 'Soil laboratory' },
  item: { name: 'soil' },
  json: { type: 'list' },
  message: { status: 'PROCESSING' },
  passkey: { name: 'Laptop', signature: 'MEUCIQDFzR0' },
  plugin: { id: 'documents.sqlite' },
  refused: { message: 'File not found or not accessible' },
  response: { signature: 'MEUCIQDFzR0' },
  role: { name: 'Editor' },
  space: { name: 'Soil laboratory' },
}
