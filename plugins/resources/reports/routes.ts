import { NotFound, routesFor, Spaces, s } from 'pounce/sdk'
import { readTime } from 'pounce/sdk/kit'
import { ExtractorReports } from './extractor-reports.ts'
import { PeopleReports } from './people-reports.ts'
import { RecordReports, type Span } from './record-reports.ts'
import {
  AnyRow,
  CollectionRow,
  DatasetRow,
  FileRow,
  type Report,
  RunRow,
  reportBytes,
  reportOf,
  SpaceRow,
  StoredByUserRow,
  StoredFileRow,
  UserRow,
} from './report.ts'
import { StorageReports } from './storage-reports.ts'
import { UsageReports } from './usage-reports.ts'

const route = routesFor('reports', {
  records: RecordReports,
  people: PeopleReports,
  extractors: ExtractorReports,
  storage: StorageReports,
  usage: UsageReports,
  spaces: Spaces,
})

const form = {
  format: s.Optional(
    s.Union([s.Literal('csv'), s.Literal('json')], {
      description: '`csv` unless the `Accept` header has `application/json` and not CSV',
    }),
  ),
}
const time = (description: string) => s.Optional(s.String({ maxLength: 40, description }))
const span = {
  since: time('Such as `2018-06-20T11:40:25.000Z` or `2018-06-20`, UTC without a zone; that instant included'),
  until: time('Such as `2018-06-20T11:40:25.000Z` or `2018-06-20`, UTC without a zone; that instant included'),
}
const openSpan = {
  since: time('Such as `2018-06-20T11:40:25.000Z` or `2018-06-20`, UTC without a zone; only what is newer'),
  until: time('Such as `2018-06-20T11:40:25.000Z` or `2018-06-20`, UTC without a zone; only what is older'),
}

const csv =
  'Streamed as CSV (RFC 4180) or JSON. In CSV, text that a spreadsheet would read as a formula is prefixed with an apostrophe. Concurrent changes may or may not be included.'

const spanOf = ({ since, until }: Span): Span => ({
  ...(since === undefined ? {} : { since: new Date(readTime(since, 'since')).toISOString() }),
  ...(until === undefined ? {} : { until: new Date(readTime(until, 'until')).toISOString() }),
})

const answer = (report: Report, format: 'csv' | 'json' | undefined, accept: string | undefined) => {
  const wantsJson = accept !== undefined && /\bapplication\/json\b/i.test(accept) && !/\btext\/csv\b/i.test(accept)
  return { status: 200 as const, body: reportBytes(report, format ?? (wantsJson ? 'json' : 'csv')), headers: { vary: 'Accept' } }
}

export const reportFiles = route({
  method: 'GET',
  path: '/api/reports/metrics/files',
  summary: 'Report on all files',
  description: csv,
  permission: 'serverAdmin',
  cost: 'export',
  query: s.Object({ ...span, ...form }),
  responses: reportOf(FileRow),
  async handle({ query, headers }, { records }) {
    return answer(records.files(spanOf(query)), query.format, headers.accept)
  },
})

export const reportDatasets = route({
  method: 'GET',
  path: '/api/reports/metrics/datasets',
  summary: 'Report on all datasets',
  description: csv,
  permission: 'serverAdmin',
  cost: 'export',
  query: s.Object({ ...span, ...form }),
  responses: reportOf(DatasetRow),
  async handle({ query, headers }, { records }) {
    return answer(records.datasets(spanOf(query)), query.format, headers.accept)
  },
})

export const reportCollections = route({
  method: 'GET',
  path: '/api/reports/metrics/collections',
  summary: 'Report on all collections',
  description: csv,
  permission: 'serverAdmin',
  cost: 'export',
  query: s.Object(form),
  responses: reportOf(CollectionRow),
  async handle({ query, headers }, { records }) {
    return answer(records.collections(), query.format, headers.accept)
  },
})

export const reportSpaces = route({
  method: 'GET',
  path: '/api/reports/metrics/spaces',
  summary: 'Report on all spaces',
  description: csv,
  permission: 'serverAdmin',
  cost: 'export',
  query: s.Object(form),
  responses: reportOf(SpaceRow),
  async handle({ query, headers }, { people }) {
    return answer(people.spaces(), query.format, headers.accept)
  },
})

export const reportUsers = route({
  method: 'GET',
  path: '/api/reports/metrics/users',
  summary: 'Report on all users',
  description: `${csv} The first row is anonymous use.`,
  permission: 'serverAdmin',
  cost: 'export',
  query: s.Object(form),
  responses: reportOf(UserRow),
  async handle({ query, headers }, { people }) {
    return answer(people.users(), query.format, headers.accept)
  },
})

export const reportEverything = route({
  method: 'GET',
  path: '/api/reports/metrics',
  summary: 'Report on all collections, datasets and files',
  description: csv,
  permission: 'serverAdmin',
  cost: 'export',
  query: s.Object(form),
  responses: reportOf(AnyRow),
  async handle({ query, headers }, { records }) {
    return answer(records.everything(), query.format, headers.accept)
  },
})

export const reportExtractors = route({
  method: 'GET',
  path: '/api/reports/metrics/extractors',
  summary: 'Report on extraction wait and run times',
  description: `${csv} One row per phase of an extraction that took any time: \`queue\` until processing began, \`work\` from then to the last status.`,
  permission: 'serverAdmin',
  cost: 'export',
  query: s.Object({ ...span, ...form }),
  responses: reportOf(RunRow),
  async handle({ query, headers }, { extractors }) {
    return answer(extractors.runs(spanOf(query)), query.format, headers.accept)
  },
})

const aboutStorage = `${csv} Each file once, with the email addresses of the owners and admins of its spaces. Files of datasets in the trash are included.`

export const reportStorage = route({
  method: 'GET',
  path: '/api/reports/storage/spaces',
  summary: 'Report on the storage of all spaces',
  description: aboutStorage,
  permission: 'serverAdmin',
  cost: 'export',
  query: s.Object({ space: s.Optional(s.String({ maxLength: 24, description: 'Id of a space' })), ...openSpan, ...form }),
  responses: reportOf(StoredFileRow),
  throws: [NotFound],
  async handle({ query, headers }, { storage, spaces }) {
    const { space } = query
    if (space !== undefined && !(s.isId(space) && (await spaces.get(space)))) throw new NotFound('space')
    return answer(storage.files(space, spanOf(query)), query.format, headers.accept)
  },
})

export const reportStorageOfSpace = route({
  method: 'GET',
  path: '/api/reports/storage/spaces/:id',
  summary: 'Report on the storage of a space',
  description: aboutStorage,
  permission: 'serverAdmin',
  cost: 'export',
  params: s.Object({ id: s.id('space') }),
  query: s.Object({ ...openSpan, ...form }),
  responses: reportOf(StoredFileRow),
  throws: [NotFound],
  async handle({ params, query, headers }, { storage, spaces }) {
    if (!(await spaces.get(params.id))) throw new NotFound('space')
    return answer(storage.files(params.id, spanOf(query)), query.format, headers.accept)
  },
})

export const reportStorageOfUsers = route({
  method: 'GET',
  path: '/api/reports/storage/users',
  summary: 'Report on the storage of all users',
  description: `${csv} Largest usage first.`,
  permission: 'serverAdmin',
  cost: 'export',
  query: s.Object({ ...openSpan, ...form }),
  responses: reportOf(StoredByUserRow),
  async handle({ query, headers, signal }, { usage }) {
    return answer(usage.users(spanOf(query), signal), query.format, headers.accept)
  },
})
