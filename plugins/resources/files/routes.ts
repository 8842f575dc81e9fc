import {
  type Bytes,
  Datasets,
  event,
  FileIngest,
  type FileRecord,
  Files,
  Forbidden,
  Invalid,
  NotFound,
  Policy,
  Problem,
  Recommenders,
  ref,
  routesFor,
  type Stored,
  s,
  Users,
} from 'pounce/sdk'
import {
  ChangedMeanwhile,
  changeIfMatching,
  FollowAnswer,
  follow,
  optionalOrNull,
  Quarantined,
  ScanPending,
  unfollow,
  versionTag,
  viewParameter,
} from 'pounce/sdk/kit'
import { FileDownloads } from './file-downloads.ts'
import { FileInfo, ListedFile, maySeePaths, toFileInfo } from './file-json.ts'
import { FileListing } from './file-listing.ts'
import { FileRemoval } from './file-removal.ts'
import { FileVersion, FileViews, FullFile } from './file-view.ts'

const route = routesFor('files', {
  files: Files,
  datasets: Datasets,
  ingest: FileIngest,
  downloads: FileDownloads,
  listing: FileListing,
  removal: FileRemoval,
  views: FileViews,
})
const params = s.Object({ id: s.id() })

const RowsOrCount = s.Unsafe<AsyncIterable<s.Static<typeof ListedFile>> | number>({
  anyOf: [s.rows(ListedFile), s.Integer({ minimum: 0 })],
  [s.bodyKind]: 'rows',
})

const existing = async (files: Files, id: string): Promise<FileRecord & Stored> => {
  const file = await files.get(id)
  if (!file) throw new NotFound('file')
  return file
}

export const getFile = route({
  method: 'GET',
  path: '/api/files/:id',
  aliases: [{ path: '/api/files/:id/blob' }, { path: '/files/:id/blob' }],
  summary: 'Download a file',
  description:
    'Requires DownloadFiles, unless the license allows download for everyone who may view the file. Supports ranges, conditional requests and `Repr-Digest`. Counted as a download when bytes are sent from the beginning, unless `tracking=false`. If a malware scanner is loaded, a new file answers 409 `scan-pending` until it is scanned, and 403 `quarantined` if malware was found. If the blob store is configured for it, a plain GET of a large file is redirected (302) to a URL of the store that is valid for 15 minutes.',
  permission: { right: 'ViewFile', on: ref('file', 'id') },
  jobKeys: 'allowed',
  params,
  query: s.Object({ tracking: s.flag(true) }),
  responses: { 200: s.bytes<Bytes>() },
  throws: [NotFound, Forbidden, ScanPending, Quarantined],
  effects: 'counts the download',
  inTrash: 'allowed',
  answersHead: true,
  async handle({ params, query, isHead, caller }, { files, downloads }) {
    const file = await existing(files, params.id)
    await downloads.authorize(file, caller)
    if (!isHead) downloads.wantArchived(file, caller.user?.id)
    return { status: 200, body: downloads.countedBytesOf(file, caller.user?.id, query.tracking) }
  },
})

export const getFileInfo = route({
  method: 'GET',
  path: '/api/files/:id/metadata',
  summary: 'Get the name, type, size and status of a file',
  description: 'For user metadata see `/api/files/:id/metadata.jsonld`. All values are text, as in Clowder 1.x, except with `view=full`.',
  permission: { right: 'ViewFile', on: ref('file', 'id') },
  jobKeys: 'allowed',
  params,
  query: s.Object({ view: viewParameter }),
  responses: { 200: s.Union([FileInfo, FullFile]) },
  throws: [NotFound],
  async handle({ params, query, caller }, { files, downloads, listing, views }) {
    await downloads.counted(params.id)
    const file = await existing(files, params.id)
    const headers = versionTag(file)
    if (query.view === 'full') return { status: 200, body: await views.full(caller, file), headers }
    const [first] = await listing.pathsOf(file, caller)
    const path = `/${first?.folders.join('/') ?? ''}`
    const place = maySeePaths(caller) ? await downloads.placeOf(file) : {}
    return { status: 200, body: toFileInfo(file, path, { place, damaged: await downloads.damagedSince(file) }), headers }
  },
})

export const getFilePaths = route({
  method: 'GET',
  path: '/api/files/:id/paths',
  summary: 'List the paths of a file',
  description:
    'The first list has all datasets with the file in their root; each further list has a dataset and the folders down to the file. Datasets that the caller may not view are omitted.',
  permission: { right: 'ViewFile', on: ref('file', 'id') },
  params,
  responses: { 200: s.Object({ paths: s.Array(s.Array(s.String())) }) },
  throws: [NotFound],
  async handle({ params, caller }, { files, datasets, listing }) {
    const file = await existing(files, params.id)
    const places = await listing.pathsOf(file, caller)
    const names = await datasets.getMany([...new Set(places.map(place => place.dataset))])
    const nameOf = (dataset: string): string => names.get(dataset)?.name ?? ''
    const roots = places.filter(place => place.folders.length === 0).map(place => nameOf(place.dataset))
    const nested = places.filter(place => place.folders.length > 0).map(place => [nameOf(place.dataset), ...place.folders])
    return { status: 200, body: { paths: [roots, ...nested].filter(path => path.length > 0) } }
  },
})

export const listFileVersions = route({
  method: 'GET',
  path: '/api/files/:id/versions',
  summary: 'List the files of the same name in the same folder',
  description: 'An addition to Clowder 1.x. Newest first, with the file itself; at most 100.',
  permission: { right: 'ViewFile', on: ref('file', 'id') },
  params,
  responses: { 200: s.Array(FileVersion) },
  throws: [NotFound],
  async handle({ params, caller }, { files, views }) {
    return { status: 200, body: await views.versions(caller, await existing(files, params.id)) }
  },
})

export const renameFile = route({
  method: 'PUT',
  path: '/api/files/:id/filename',
  summary: 'Rename a file',
  permission: { right: 'EditFile', on: ref('file', 'id') },
  params,
  body: s.Object({ name: s.filename() }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid, ChangedMeanwhile],
  async handle({ params, body, caller, headers }, { files, ingest }) {
    const file = { kind: 'file', id: params.id } as const
    const name = ingest.nameOf(body.name)
    const renamed = event('file.updated', file, { fields: ['name'] }, caller.user?.id)
    await changeIfMatching(files, file, headers['if-match'], { set: { name } }, [renamed])
    return { status: 200, body: { status: 'success' } }
  },
})

export const describeFile = route({
  method: 'PUT',
  path: '/api/files/:id/updateDescription',
  summary: 'Update the description of a file',
  permission: { right: 'EditFile', on: ref('file', 'id') },
  params,
  body: s.Object({ description: optionalOrNull(s.prose()) }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid, ChangedMeanwhile],
  async handle({ params, body, caller, headers }, { files }) {
    // Clowder 1.x answers 404 here and 400 elsewhere; clients check the status.
    if (typeof body.description !== 'string') throw new Problem(404, 'no-description', 'description data is missing')
    const file = { kind: 'file', id: params.id } as const
    const described = event('file.updated', file, { fields: ['description'] }, caller.user?.id)
    await changeIfMatching(files, file, headers['if-match'], { set: { description: body.description } }, [described])
    return { status: 200, body: { status: 'success' } }
  },
})

export const deleteFile = route({
  method: 'DELETE',
  path: '/api/files/:id',
  aliases: [{ method: 'POST', path: '/api/files/:id/remove' }],
  summary: 'Delete a file',
  description:
    'Hidden from all readers when the response is sent; previews, metadata, comments and finally the bytes are deleted in the background.',
  permission: { right: 'DeleteFile', on: ref('file', 'id') },
  params,
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params, caller }, { files, removal }) {
    await removal.remove(await existing(files, params.id), caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const listDatasetFiles = route({
  method: 'GET',
  path: '/api/datasets/:id/files',
  aliases: [{ path: '/api/datasets/:id/listAllFiles' }],
  summary: 'List the files of a dataset',
  description:
    'Files in the root first; a file in several folders is listed once for each. Streamed row by row, so there is no limit; `max` stops earlier.',
  permission: { right: 'ViewDataset', on: ref('dataset', 'id') },
  jobKeys: 'allowed',
  params,
  query: s.Object({ max: s.Integer({ default: -1, description: 'Maximum number of files; -1: no limit' }) }),
  responses: { 200: s.rows(ListedFile) },
  throws: [NotFound],
  async handle({ params, query, caller }, { listing }) {
    const max = query.max < 0 ? Number.POSITIVE_INFINITY : query.max
    return { status: 200, body: listing.all(params.id, maySeePaths(caller), max) }
  },
})

export const listRootFiles = route({
  method: 'GET',
  path: '/api/datasets/:id/listFiles',
  summary: 'List or count the files in the root of a dataset',
  description: 'With `count=true` the response is a bare number, counted up to 100,000.',
  permission: { right: 'ViewDataset', on: ref('dataset', 'id') },
  jobKeys: 'allowed',
  params,
  query: s.Object({ count: s.flag(false) }),
  responses: { 200: RowsOrCount },
  throws: [NotFound],
  async handle({ params, query, caller }, { files, listing }) {
    if (query.count) return { status: 200, body: await files.countIn(params.id) }
    return { status: 200, body: listing.root(params.id, maySeePaths(caller)) }
  },
})

const followRoute = routesFor('files', { users: Users, recommenders: Recommenders, policy: Policy })

export const followFile = followRoute({
  method: 'POST',
  path: '/api/files/:id/follow',
  summary: 'Follow a file',
  permission: 'signedIn',
  alsoRequires: [{ right: 'ViewFile', on: ref('file', 'id') }],
  params,
  responses: { 200: FollowAnswer },
  throws: [NotFound],
  async handle({ params, caller }, needs) {
    return follow(needs, caller, { kind: 'file', id: params.id })
  },
})

export const unfollowFile = followRoute({
  method: 'POST',
  path: '/api/files/:id/unfollow',
  summary: 'Unfollow a file',
  permission: 'signedIn',
  params,
  responses: { 200: s.empty() },
  throws: [NotFound],
  async handle({ params, caller }, { users, policy }) {
    await unfollow(users, policy, caller, { kind: 'file', id: params.id })
    return { status: 200, body: undefined }
  },
})
