import {
  afterParameter,
  byteBody,
  type Caller,
  Conflict,
  FileIntake,
  Installation,
  Invalid,
  linkToNext,
  NotFound,
  pageOf,
  routesFor,
  type SentBytes,
  type Stored,
  s,
  TooLarge,
} from 'pounce/sdk'
import type { UploadRecord } from './collections.ts'
import { type Finishing, Finishings } from './finishing.ts'
import { newUpload } from './new-upload.ts'
import { OpenUploads } from './open-uploads.ts'
import { ChecksumMismatch, Expired, Locked, OtherVersion } from './problems.ts'
import { type Receiving, Receivings } from './receiving.ts'
import { bytesIn, type Checksum, checksumIn, metadataIn, requireTus, tusHeaders } from './tus-headers.ts'
import { toUpload, Upload } from './upload-json.ts'

const needs = { uploads: OpenUploads, receiving: Receivings, finishing: Finishings, intake: FileIntake, installation: Installation }
const route = routesFor('uploads', needs)
const params = s.Object({ id: s.id() })
const contentType = 'application/offset+octet-stream'
const protocol = 'A part of the tus protocol 1.0.0 (https://tus.io/protocols/resumable-upload): needs the header `Tus-Resumable: 1.0.0`.'

type Open = UploadRecord & Stored

/** HEAD needs the offset as a header, and every answer says when the upload expires. */
const stateHeaders = ({ receivedBytes, lengthBytes, expires, sentMetadata }: Open) => ({
  'cache-control': 'no-store',
  'upload-offset': String(receivedBytes),
  'upload-length': String(lengthBytes),
  'upload-expires': new Date(expires).toUTCString(),
  ...(sentMetadata === '' ? {} : { 'upload-metadata': sentMetadata }),
})

/** An upload whose bytes are all there becomes a file, also when it was interrupted at just that. */
const finished = async (upload: Open, caller: Caller, finishing: Finishing): Promise<Open> =>
  upload.state === 'open' && upload.receivedBytes === upload.lengthBytes ? finishing.finish(upload, caller) : upload

interface Piece {
  readonly offset: number
  readonly body: SentBytes
  readonly checksum: Checksum | undefined
}

const append = async (upload: Open, { offset, body, checksum }: Piece, receiving: Receiving): Promise<Open> => {
  // A client that did not hear that it was done asks once more, with nothing left to send.
  const isRepeat = offset === upload.receivedBytes && !body.isPresent
  return isRepeat ? upload : receiving.append(upload, offset, body, checksum)
}

export const beginUpload = route({
  method: 'POST',
  path: '/api/uploads',
  summary: 'Begin an upload that can be interrupted',
  description:
    `${protocol} \`Upload-Metadata\` has \`filename\`, and may have \`filetype\`, \`dataset\`, \`folder\`, \`extract\`, \`showPreviews\`, \`metadata\` (a JSON object) and \`sha256\` (hex, of ` +
    'the whole). Without a dataset only you see the file. The right to add to the dataset is checked now and when the last byte has come. The id of the upload becomes the id of the file.',
  permission: 'AddFile',
  body: byteBody('Nothing, or the first bytes', { contentType, isOptional: true }),
  responses: { 201: s.empty() },
  throws: [Invalid, NotFound, Conflict, TooLarge, OtherVersion, ChecksumMismatch],
  headers: tusHeaders,
  async handle({ headers, body, caller, url }, { uploads, receiving, finishing, intake }) {
    requireTus(headers)
    const length = bytesIn(headers, 'upload-length')
    if (length === undefined) throw new Invalid('The header Upload-Length is missing: the length of the file must be known')
    const sent = String(headers['upload-metadata'] ?? '')
    const about = newUpload(metadataIn(sent), intake)
    const checksum = checksumIn(headers)
    const begun = await uploads.begin(caller, length, about, sent)
    const upload = await finished(await append(begun, { offset: 0, body, checksum }, receiving), caller, finishing)
    return { status: 201, body: undefined, headers: { ...stateHeaders(upload), location: `${url.pathname}/${upload.id}` } }
  },
})

export const appendToUpload = route({
  method: 'PATCH',
  path: '/api/uploads/:id',
  aliases: [{ method: 'POST', path: '/api/uploads/:id' }],
  summary: 'Go on with an upload',
  description:
    `${protocol} \`Upload-Offset\` must be the number of bytes that the server has. What came counts even when the connection breaks, unless \`Upload-Checksum\` was sent: then all of it ` +
    'must have come and be right (else 460). The answer to the last bytes comes when the file is there. POST is for clients that cannot send PATCH (`X-HTTP-Method-Override`).',
  permission: 'AddFile',
  params,
  body: byteBody('The bytes from the offset on', { contentType }),
  responses: { 204: s.empty() },
  throws: [Invalid, NotFound, Conflict, Expired, TooLarge, OtherVersion, Locked, ChecksumMismatch],
  headers: tusHeaders,
  async handle({ params: { id }, headers, body, caller }, { uploads, receiving, finishing }) {
    requireTus(headers)
    const offset = bytesIn(headers, 'upload-offset')
    if (offset === undefined) throw new Invalid('The header Upload-Offset is missing')
    const checksum = checksumIn(headers)
    const upload = await append(await uploads.get(id, caller), { offset, body, checksum }, receiving)
    return { status: 204, body: undefined, headers: stateHeaders(await finished(upload, caller, finishing)) }
  },
})

export const getUpload = route({
  method: 'GET',
  path: '/api/uploads/:id',
  summary: 'How far an upload has come',
  description:
    'Only for who began it. HEAD is part of the tus protocol and answers by headers. A finished upload tells of its file for a day.',
  permission: 'AddFile',
  params,
  responses: { 200: Upload },
  throws: [NotFound, Expired],
  effects: 'makes the file of an upload that has all its bytes and was interrupted then',
  answersHead: true,
  headers: tusHeaders,
  async handle({ params: { id }, headers, caller, isHead }, { uploads, finishing }) {
    if (isHead) requireTus(headers)
    const upload = await finished(await uploads.get(id, caller), caller, finishing)
    return { status: 200, body: toUpload(upload), headers: stateHeaders(upload) }
  },
})

export const listUploads = route({
  method: 'GET',
  path: '/api/uploads',
  summary: 'Your unfinished uploads, those begun last first',
  description: 'Further ones through the `Link` header.',
  permission: 'AddFile',
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
  summary: 'Give up an upload',
  description: `${protocol} What came of it goes away. The file of a finished upload stays.`,
  permission: 'AddFile',
  params,
  responses: { 204: s.empty() },
  throws: [NotFound, Expired, OtherVersion],
  headers: tusHeaders,
  async handle({ params: { id }, headers, caller }, { uploads }) {
    requireTus(headers)
    await uploads.drop(await uploads.get(id, caller))
    return { status: 204, body: undefined }
  },
})
