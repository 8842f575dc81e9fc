import { type Bytes, NotFound, parseListDate, routesFor, Spaces, s } from 'pounce/sdk'
import { ReportsOfExtractors } from './extractor-reports.ts'
import { ReportsOfPeople } from './people-reports.ts'
import { ReportsOfRecords, type Span } from './record-reports.ts'
import { type Report, reportBytes } from './report.ts'
import { ReportsOfStorage } from './storage-reports.ts'
import { ReportsOfUsage } from './usage-reports.ts'

const route = routesFor('reports', {
  records: ReportsOfRecords,
  people: ReportsOfPeople,
  extractors: ReportsOfExtractors,
  storage: ReportsOfStorage,
  usage: ReportsOfUsage,
  spaces: Spaces,
})

const form = {
  format: s.Optional(
    s.Union([s.Literal('csv'), s.Literal('json')], {
      description: '`csv` unless the `Accept` header asks for `application/json` and not for CSV',
    }),
  ),
}
const time = (description: string) => s.Optional(s.String({ maxLength: 40, description }))
const span = {
  since: time('Such as `2018-06-20T11:40:25.000Z`; that instant included'),
  until: time('Such as `2018-06-20T11:40:25.000Z`; that instant included'),
}
const openSpan = {
  since: time('Such as `2018-06-20T11:40:25.000Z`; only what is newer'),
  until: time('Such as `2018-06-20T11:40:25.000Z`; only what is older'),
}

/** `throws` are the same for all: a wrong time. */
const responses = { 200: s.bytes<Bytes>() }
const csv =
  'Streamed as CSV (RFC 4180) or JSON. Text with which a spreadsheet would begin a formula gets an apostrophe before it in CSV. What changes meanwhile may or may not be seen.'

const spanOf = ({ since, until }: Span): Span => ({
  ...(since === undefined ? {} : { since: parseListDate(since, 'since').toISOString() }),
  ...(until === undefined ? {} : { until: parseListDate(until, 'until').toISOString() }),
})

const answer = (report: Report, format: 'csv' | 'json' | undefined, accept: string | undefined) => {
  const wantsJson = accept !== undefined && /\bapplication\/json\b/i.test(accept) && !/\btext\/csv\b/i.test(accept)
  return { status: 200 as const, body: reportBytes(report, format ?? (wantsJson ? 'json' : 'csv')), headers: { vary: 'Accept' } }
}

export const reportFiles = route({
  method: 'GET',
  path: '/api/reports/metrics/files',
  summary: 'Every file: owner, size, how often it was looked at, where it is',
  description: csv,
  permission: 'serverAdmin',
  query: s.Object({ ...span, ...form }),
  responses,
  async handle({ query, headers }, { records }) {
    return answer(records.files(spanOf(query)), query.format, headers.accept)
  },
})

export const reportDatasets = route({
  method: 'GET',
  path: '/api/reports/metrics/datasets',
  summary: 'Every dataset outside of the trash: owner, how often it was looked at, where it is',
  description: csv,
  permission: 'serverAdmin',
  query: s.Object({ ...span, ...form }),
  responses,
  async handle({ query, headers }, { records }) {
    return answer(records.datasets(spanOf(query)), query.format, headers.accept)
  },
})

export const reportCollections = route({
  method: 'GET',
  path: '/api/reports/metrics/collections',
  summary: 'Every collection outside of the trash',
  description: csv,
  permission: 'serverAdmin',
  query: s.Object(form),
  responses,
  async handle({ query, headers }, { records }) {
    return answer(records.collections(), query.format, headers.accept)
  },
})

export const reportSpaces = route({
  method: 'GET',
  path: '/api/reports/metrics/spaces',
  summary: 'Every space, with how much is in it',
  description: csv,
  permission: 'serverAdmin',
  query: s.Object(form),
  responses,
  async handle({ query, headers }, { people }) {
    return answer(people.spaces(), query.format, headers.accept)
  },
})

export const reportUsers = route({
  method: 'GET',
  path: '/api/reports/metrics/users',
  summary: 'Every account, with when it was used last and its spaces',
  description: `${csv} The first row stands for anonymous use.`,
  permission: 'serverAdmin',
  query: s.Object(form),
  responses,
  async handle({ query, headers }, { people }) {
    return answer(people.users(), query.format, headers.accept)
  },
})

export const reportEverything = route({
  method: 'GET',
  path: '/api/reports/metrics',
  summary: 'Collections, datasets and files in one table',
  description: csv,
  permission: 'serverAdmin',
  query: s.Object(form),
  responses,
  async handle({ query, headers }, { records }) {
    return answer(records.everything(), query.format, headers.accept)
  },
})

export const reportExtractors = route({
  method: 'GET',
  path: '/api/reports/metrics/extractors',
  summary: 'How long runs of extractors waited and worked',
  description: `${csv} A row for each phase of a run that took any time: \`queue\` until work began, \`work\` from then to the last news.`,
  permission: 'serverAdmin',
  query: s.Object({ ...span, ...form }),
  responses,
  async handle({ query, headers }, { extractors }) {
    return answer(extractors.runs(spanOf(query)), query.format, headers.accept)
  },
})

const aboutStorage = `${csv} Each file once, with the e-mail addresses of those who own and administer its spaces. Files of datasets in the trash take space too, and are told of.`

export const reportStorage = route({
  method: 'GET',
  path: '/api/reports/storage/spaces',
  summary: 'What is stored, in a space or everywhere',
  description: aboutStorage,
  permission: 'serverAdmin',
  query: s.Object({ space: s.Optional(s.String({ maxLength: 24, description: 'Id of a space' })), ...openSpan, ...form }),
  responses,
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
  summary: 'What is stored in a space',
  description: aboutStorage,
  permission: 'serverAdmin',
  params: s.Object({ id: s.id() }),
  query: s.Object({ ...openSpan, ...form }),
  responses,
  throws: [NotFound],
  async handle({ params, query, headers }, { storage, spaces }) {
    if (!(await spaces.get(params.id))) throw new NotFound('space')
    return answer(storage.files(params.id, spanOf(query)), query.format, headers.accept)
  },
})

export const reportStorageOfUsers = route({
  method: 'GET',
  path: '/api/reports/storage/users',
  summary: 'How much each person has stored',
  description: `${csv} Who holds most comes first.`,
  permission: 'serverAdmin',
  query: s.Object({ ...openSpan, ...form }),
  responses,
  async handle({ query, headers, signal }, { usage }) {
    return answer(usage.users(spanOf(query), signal), query.format, headers.accept)
  },
})
