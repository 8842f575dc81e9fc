import type { IncomingHttpHeaders } from 'node:http'
import {
  byteBody,
  type Caller,
  Conflict,
  FileIngest,
  Installation,
  Invalid,
  NotFound,
  routesFor,
  type SentBytes,
  type Stored,
  s,
  TooLarge,
} from 'pounce/sdk'
import { afterParameter, linkToNext, pageOf } from 'pounce/sdk/kit'
import type { UploadRecord } from './collections.ts'
import { newUpload } from './new-upload.ts'
import { StoredUploads } from './open-uploads.ts'
import { ChecksumMismatch, OtherVersion, UploadExpired, UploadLocked } from './problems.ts'
import { bytesIn, type Checksum, checksumIn, metadataIn, overriddenMethod, requireTus, tusHeaders } from './tus-headers.ts'
import { UploadCheck } from './upload-check.ts'
import { UploadCompletion } from './upload-completion.ts'
import { UploadReceiver } from './upload-receiver.ts'

const needs = {
  uploads: StoredUploads,
  receiving: UploadReceiver,
  checks: UploadCheck,
  uploadCompletion: UploadCompletion,
  ingest: FileIngest,
  installation: Installation,
}
const route = routesFor('uploads', needs)
const params = s.Object({ id: s.id() })
const contentType = 'application/offset+octet-stream'
const protocol = 'Part of the tus protocol 1.0.0 (https://tus.io/protocols/resumable-upload); requires the header `Tus-Resumable: 1.0.0`.'

type Open = UploadRecord & Stored

/** The progress of an upload. Sizes are bytes, times ISO 8601. */
const Upload = s.model(
  'Upload',
  s.Object({
    id: s.String(),
    filename: s.String(),
    dataset: s.Union([s.String(), s.Null()]),
    folder: s.Union([s.String(), s.Null()]),
    path: s.Optional(s.String({ description: 'Relative path with the name of the file, if it was sent' })),
    length: s.Integer(),
    received: s.Integer({ description: 'Durable bytes: an interrupted client continues from here' }),
    started: s.String(),
    expires: s.String(),
    state: s.Union([s.Literal('open'), s.Literal('finished')]),
    file: s.Union([s.String(), s.Null()], { description: 'Id of the file, once it is created' }),
  }),
)

const toUpload = (upload: UploadRecord & Stored): s.Static<typeof Upload> => ({
  id: upload.id,
  filename: upload.name,
  dataset: upload.dataset,
  folder: upload.folder,
  ...(upload.path ? { path: [...upload.path, upload.name].join('/') } : {}),
  length: upload.lengthBytes,
  received: upload.receivedBytes,
  started: upload.started,
  expires: upload.expires,
  state: upload.state,
  file: upload.state === 'finished' ? upload.id : null,
})

/** HEAD needs the offset as a header, and every response includes the expiry. */
const stateHeaders = ({ receivedBytes, lengthBytes, expires, sentMetadata }: Open) => ({
  'cache-control': 'no-store',
  'upload-offset': String(receivedBytes),
  'upload-length': String(lengthBytes),
  'upload-expires': new Date(expires).toUTCString(),
  ...(sentMetadata === '' ? {} : { 'upload-metadata': sentMetadata }),
})

/** Creates the file of a complete upload, including one that was interrupted at that step. */
const finished = async (upload: Open, caller: Caller, uploadCompletion: UploadCompletion): Promise<Open> =>
  upload.state === 'open' && upload.receivedBytes === upload.lengthBytes ? uploadCompletion.finish(upload, caller) : upload

interface Piece {
  readonly offset: number
  readonly body: SentBytes
  readonly checksum: Checksum | undefined
}

const pieceIn = (headers: IncomingHttpHeaders, body: SentBytes): Piece => {
  const offset = bytesIn(headers, 'upload-offset')
  if (offset === undefined) throw new Invalid('The header Upload-Offset is missing')
  return { offset, body, checksum: checksumIn(headers) }
}

const append = async (upload: Open, { offset, body, checksum }: Piece, receiving: UploadReceiver): Promise<Open> => {
  // A client that missed the last response repeats its request, with nothing left to send.
  const isRepeat = offset === upload.receivedBytes && !body.isPresent
  return isRepeat ? upload : receiving.append(upload, offset, body, checksum)
}

export const beginUpload = route({
  method: 'POST',
  path: '/api/uploads',
  summary: 'Create a resumable upload',
  description:
    `${protocol} \`Upload-Metadata\` has \`filename\` or \`path\`, and may have \`filetype\`, \`dataset\`, \`folder\`, \`extract\`, \`showPreviews\`, \`metadata\` (a JSON object), \`batch\` (an id that you choose for uploads that belong together) and \`sha256\` (hex, of ` +
    'the whole file). `path` is relative to the dataset or folder and ends with the name of the file: `a/b/c.txt`. Folders that are missing are created with the file. Without a dataset only you can see the file. The right to add to the dataset is checked now and after the last byte. The id of the upload becomes the id of the file.',
  permission: {
    right: 'AddFile',
    unscoped: 'A header names the dataset; the upload checks AddResourceToDataset on it now and at its end.',
  },
  body: byteBody('Nothing, or the first bytes', { contentType, isOptional: true }),
  responses: { 201: s.empty() },
  throws: [Invalid, NotFound, Conflict, TooLarge, OtherVersion, ChecksumMismatch],
  headers: tusHeaders,
  async handle({ headers, body, caller, url }, { uploads, receiving, uploadCompletion, ingest }) {
    requireTus(headers, 'POST')
    const length = bytesIn(headers, 'upload-length')
    if (length === undefined) throw new Invalid('The header Upload-Length is missing')
    const sent = String(headers['upload-metadata'] ?? '')
    const about = newUpload(metadataIn(sent), ingest)
    const checksum = checksumIn(headers)
    const begun = await uploads.begin(caller, length, about, sent)
    try {
      const upload = await finished(await append(begun, { offset: 0, body, checksum }, receiving), caller, uploadCompletion)
      return { status: 201, body: undefined, headers: { ...stateHeaders(upload), location: `${url.pathname}/${upload.id}` } }
    } catch (error) {
      // An error response has no Location header. An interrupted upload is in the caller's list of uploads.
      if (error instanceof ChecksumMismatch || error instanceof TooLarge) await uploads.abort(begun)
      throw error
    }
  },
})

export const checkUploads = route({
  method: 'POST',
  path: '/api/uploads/check',
  summary: 'Check which files a dataset already has',
  description:
    'For each file, in order: `absent`; `same`, if a file of this path has this size and, where sent, this SHA-256; `other`, with the id of the newest file of this path; or `invalid`, with the error ' +
    'in the path. Paths are relative to the dataset, or to `folder`. Nothing is stored.',
  permission: { right: 'AddFile', unscoped: 'The body names the dataset; the handler checks AddResourceToDataset on it.' },
  body: s.model(
    'UploadCheck',
    s.Object({
      dataset: s.String({ maxLength: 100 }),
      folder: s.Optional(s.String({ maxLength: 100 })),
      files: s.Array(
        s.Object({
          path: s.String({ maxLength: 5000 }),
          size: s.Integer({ minimum: 0, description: 'In bytes' }),
          sha256: s.Optional(s.String({ pattern: '^[0-9a-fA-F]{64}$' })),
        }),
        { maxItems: 1000 },
      ),
    }),
  ),
  maxBodyBytes: 6 * 1024 * 1024,
  responses: {
    200: s.Array(
      s.model(
        'CheckedUpload',
        s.Object({
          path: s.String(),
          state: s.Union([s.Literal('absent'), s.Literal('same'), s.Literal('other'), s.Literal('invalid')]),
          id: s.Union([s.String(), s.Null()]),
          message: s.Optional(s.String()),
        }),
      ),
    ),
  },
  throws: [Invalid, NotFound, Conflict],
  async handle({ body, caller }, { checks }) {
    return { status: 200, body: [...(await checks.check(caller, body, body.files))] }
  },
})

export const appendToUpload = route({
  method: 'PATCH',
  path: '/api/uploads/:id',
  summary: 'Append to an upload',
  description:
    `${protocol} \`Upload-Offset\` must be the number of bytes that the server has. Received bytes count even if the connection breaks, unless \`Upload-Checksum\` was sent: then all of them ` +
    'must arrive and match (otherwise 460). The response to the last bytes is sent when the file is created.',
  permission: { right: 'AddFile', unscoped: 'An upload is found by the one who began it only; its end checks AddResourceToDataset.' },
  params,
  body: byteBody('The bytes from the offset', { contentType }),
  responses: { 204: s.empty() },
  throws: [Invalid, NotFound, Conflict, UploadExpired, TooLarge, OtherVersion, UploadLocked, ChecksumMismatch],
  headers: tusHeaders,
  async handle({ params: { id }, headers, body, caller }, { uploads, receiving, uploadCompletion }) {
    requireTus(headers, 'PATCH')
    const piece = pieceIn(headers, body)
    const upload = await append(await uploads.get(id, caller), piece, receiving)
    return { status: 204, body: undefined, headers: stateHeaders(await finished(upload, caller, uploadCompletion)) }
  },
})

export const postToUpload = route({
  method: 'POST',
  path: '/api/uploads/:id',
  summary: 'Append to, cancel or check an upload by POST',
  description:
    `${protocol} For clients that cannot send PATCH, DELETE or HEAD: the header \`X-HTTP-Method-Override\` names the method, PATCH by default. Headers and body are those of that method; ` +
    'HEAD is answered with 204.',
  permission: { right: 'AddFile', unscoped: 'An upload is found by the one who began it only; its end checks AddResourceToDataset.' },
  params,
  body: byteBody('The bytes from the offset, for PATCH', { contentType, isOptional: true }),
  responses: { 204: s.empty() },
  throws: [Invalid, NotFound, Conflict, UploadExpired, TooLarge, OtherVersion, UploadLocked, ChecksumMismatch],
  headers: tusHeaders,
  async handle({ params: { id }, headers, body, caller }, { uploads, receiving, uploadCompletion }) {
    const method = overriddenMethod(headers)
    requireTus(headers, method)
    const piece = method === 'PATCH' ? pieceIn(headers, body) : undefined
    const upload = await uploads.get(id, caller)
    if (method === 'DELETE') {
      await uploads.abort(upload)
      return { status: 204, body: undefined }
    }
    const now = piece ? await append(upload, piece, receiving) : upload
    return { status: 204, body: undefined, headers: stateHeaders(await finished(now, caller, uploadCompletion)) }
  },
})

export const getUpload = route({
  method: 'GET',
  path: '/api/uploads/:id',
  summary: 'Get the progress of an upload',
  description:
    'Only for its creator. HEAD is part of the tus protocol and answers by headers. The status of a finished upload is kept for a day.',
  permission: { right: 'AddFile', unscoped: 'An upload is found by the one who began it only.' },
  params,
  responses: { 200: Upload },
  throws: [NotFound, UploadExpired, OtherVersion],
  effects: 'creates the file of a complete upload that was interrupted',
  answersHead: true,
  headers: tusHeaders,
  async handle({ params: { id }, headers, caller, isHead }, { uploads, uploadCompletion }) {
    if (isHead) requireTus(headers, 'HEAD')
    const upload = await finished(await uploads.get(id, caller), caller, uploadCompletion)
    return { status: 200, body: toUpload(upload), headers: stateHeaders(upload) }
  },
})

export const listUploads = route({
  method: 'GET',
  path: '/api/uploads',
  summary: 'List my unfinished uploads, newest first',
  description: 'Paginated by the `Link` header.',
  permission: { right: 'AddFile', unscoped: "The list holds the caller's own uploads." },
  query: s.Object({
    limit: s.Integer({ default: 100, minimum: 1, maximum: 1000 }),
    after: afterParameter(),
  }),
  responses: { 200: s.Array(Upload) },
  headers: tusHeaders,
  throws: [Invalid],
  async handle({ query, caller, url }, { uploads, installation }) {
    const page = await uploads.of(caller, pageOf(query))
    return { status: 200, body: page.items.map(toUpload), ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})

export const endUpload = route({
  method: 'DELETE',
  path: '/api/uploads/:id',
  summary: 'Cancel an upload',
  description: `${protocol} Deletes the received bytes. The file of a finished upload is kept.`,
  permission: { right: 'AddFile', unscoped: 'An upload is found by the one who began it only.' },
  params,
  responses: { 204: s.empty() },
  throws: [NotFound, UploadExpired, OtherVersion],
  headers: tusHeaders,
  async handle({ params: { id }, headers, caller }, { uploads }) {
    requireTus(headers, 'DELETE')
    await uploads.abort(await uploads.get(id, caller))
    return { status: 204, body: undefined }
  },
})
