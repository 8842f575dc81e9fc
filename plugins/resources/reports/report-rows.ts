import { type Bytes, s } from 'pounce/sdk'

const text = s.String()
const texts = s.Array(s.String())
const number = s.Union([s.Number(), s.Null()])
const time = s.Union([s.String(), s.Null()], { description: 'ISO 8601' })
const flag = s.Union([s.Boolean(), s.Null()])

const owned = { id: text, name: text, owner: text, owner_id: text }
const viewed = { views: number, last_viewed: time }
const downloaded = { downloads: number, last_downloaded: time }
const ofFile = { size_kb: number, location: text, parent_datasets: texts, status: text }
const parents = { parent_collections: texts, parent_spaces: texts }

const orNothing = <const T extends Readonly<Record<string, s.TSchema>>>(columns: T) =>
  Object.fromEntries(Object.entries(columns).map(([name, schema]) => [name, s.Union([schema, s.Null()])]))

export const FileRow = s.model(
  'FileReport',
  s.Object({ type: s.Literal('file'), ...owned, ...ofFile, ...viewed, ...downloaded, ...parents, uploaded: time }),
)
export const DatasetRow = s.model(
  'DatasetReport',
  s.Object({ type: s.Literal('dataset'), ...owned, created: time, ...viewed, ...downloaded, ...parents }),
)
export const CollectionRow = s.model(
  'CollectionReport',
  s.Object({ type: s.Literal('collection'), ...owned, created: time, ...viewed, ...parents }),
)

/** What only files have is null of the others. */
export const AnyRow = s.model(
  'ResourceReport',
  s.Object({
    type: s.Union([s.Literal('collection'), s.Literal('dataset'), s.Literal('file')]),
    ...owned,
    ...orNothing(ofFile),
    ...viewed,
    ...downloaded,
    ...parents,
    'uploaded/created': time,
  }),
)

export const SpaceRow = s.model(
  'SpaceReport',
  s.Object({
    type: s.Literal('space'),
    ...{ id: text, name: text, description: text, creator_id: text, created: time },
    ...{ datasets: s.Integer(), collections: s.Integer(), users: s.Integer() },
  }),
)

export const UserRow = s.model(
  'UserReport',
  s.Object({
    type: s.Literal('user'),
    ...{ id: text, name: text, email: text, provider: text, last_login: time, days_since_last_login: number },
    ...{ active: flag, admin: flag, admin_spaces: number, member_spaces: number },
  }),
)

export const RunRow = s.model(
  'ExtractionReport',
  s.Object({
    ...{ userid: text, username: text, email: text, resource_id: text, resource_type: text, space_id: texts },
    ...{ extractor: text, job_id: text, job_type: s.Union([s.Literal('queue'), s.Literal('work')]) },
    ...{ status_count: s.Integer(), last_status: text, start: s.v1Date(), end: s.v1Date(), duration_ms: s.Integer() },
  }),
)

export const StoredFileRow = s.model(
  'FileStorageReport',
  s.Object({
    ...{ file_type: text, id: text, name: text, owner: text, owner_email: text, owner_id: text },
    ...{ size_kb: s.Integer(), uploaded: time, location: text, parent_datasets: texts, parent_collections: texts },
    ...{ parent_spaces: texts, space_owners: texts, space_admins: texts },
  }),
)

export const StoredByUserRow = s.model(
  'UserStorageReport',
  s.Object({
    type: s.Literal('user'),
    ...{ id: text, name: text, email: text, files: s.Integer(), size_kb: s.Integer() },
  }),
)

/** The answer of a report: a table, or its rows as JSON. */
export const reportOf = (row: s.TSchema) => ({ 200: s.bytes<Bytes>({ 'text/csv': s.bytes(), 'application/json': s.Array(row) }) })
