import {
  type Bytes,
  Invalid,
  type Json,
  multipart,
  NotFound,
  one,
  type PreviewRecord,
  type Ref,
  routesFor,
  type Stored,
  s,
} from 'pounce/sdk'
import { BytesOf } from './bytes-of.ts'
import { Derived } from './derived-store.ts'
import { Matching, PreviewMatch } from './matching.ts'
import { PreviewDesk, type StoredPreviews } from './stored-previews.ts'

const route = routesFor('previews', { previews: PreviewDesk, derived: Derived, matching: Matching, bytes: BytesOf })

const params = s.Object({ id: s.id() })
const aFile = multipart('One file part named `File`', 100)
const madeOne = s.Object({ id: s.String() })
const Values = s.Record(s.String(), s.Unknown())
const Listed = s.Object({ id: s.String(), filename: s.String(), contentType: s.String() })

const existing = async (previews: StoredPreviews, id: string): Promise<PreviewRecord & Stored> => {
  const preview = await previews.preview(id)
  if (!preview) throw new NotFound('preview')
  return preview
}

const target = (kind: 'file' | 'section' | 'collection', id: unknown): Ref => {
  if (!s.isId(id)) throw new Invalid(`${kind}_id must be the id of a ${kind}: 24 lower-case hex digits`)
  return { kind, id }
}

export const uploadPreview = route({
  method: 'POST',
  path: '/api/previews',
  summary: 'Upload a preview, to be attached next',
  permission: 'AddFile',
  query: s.Object({ iipKey: s.Optional(s.String()) }),
  body: aFile,
  responses: { 200: madeOne },
  throws: [Invalid],
  async handle({ body, caller, signal }, { previews, derived }) {
    return { status: 200, body: { id: await previews.upload(await derived.receive(body, signal), caller) } }
  },
})

export const attachPreview = route({
  method: 'POST',
  path: '/api/files/:id/previews/:preview',
  summary: 'Attach a preview to a file',
  description: '`extractor_id` names who made it (`Other` when absent); the other members replace its metadata.',
  permission: 'AddFile',
  of: one('file'),
  also: [{ permission: 'AddFile', of: one('preview', 'preview') }],
  params: s.Object({ id: s.id(), preview: s.id() }),
  body: Values,
  responses: { 200: s.success() },
  throws: [NotFound, Invalid],
  async handle({ params, body, caller }, { previews }) {
    const { extractor_id: extractor, ...metadata } = body as Record<string, Json>
    const by = typeof extractor === 'string' ? extractor : 'Other'
    await previews.attach(params.preview, { kind: 'file', id: params.id }, by, metadata, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const describePreview = route({
  method: 'POST',
  path: '/api/previews/:id/metadata',
  summary: "Replace a preview's metadata",
  description: 'A `file_id` or `section_id` among the members attaches the preview to it.',
  permission: 'AddFile',
  of: one('preview'),
  params,
  body: Values,
  responses: { 200: s.success() },
  throws: [NotFound, Invalid],
  async handle({ params, body, caller }, { previews, matching }) {
    const { extractor_id: extractor, file_id: file, section_id: section, ...rest } = body as Record<string, Json>
    const shown = section !== undefined ? target('section', section) : file !== undefined ? target('file', file) : undefined
    if (!shown) await previews.describe(params.id, { metadata: rest })
    else {
      await matching.mayAttach(caller, shown)
      await previews.attach(params.id, shown, typeof extractor === 'string' ? extractor : undefined, rest, caller.user?.id)
    }
    return { status: 200, body: { status: 'success' } }
  },
})

export const getPreviewInfo = route({
  method: 'GET',
  path: '/api/previews/:id/metadata',
  summary: 'Type and title of a preview',
  permission: 'ViewFile',
  of: one('preview'),
  params,
  responses: { 200: s.Object({ id: s.String(), contentType: s.String(), title: s.Union([s.String(), s.Null()]) }) },
  throws: [NotFound],
  async handle({ params }, { previews }) {
    const { id, contentType, title } = await existing(previews, params.id)
    return { status: 200, body: { id, contentType, title } }
  },
})

export const titlePreview = route({
  method: 'POST',
  path: '/api/previews/:id/title',
  summary: 'Give a preview a title',
  permission: 'AddFile',
  of: one('preview'),
  params,
  body: s.Object({ title: s.line() }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid],
  async handle({ params, body }, { previews }) {
    await previews.describe(params.id, { title: body.title })
    return { status: 200, body: { status: 'success' } }
  },
})

export const getPreview = route({
  method: 'GET',
  path: '/api/previews/:id',
  summary: "A preview's bytes",
  permission: 'ViewFile',
  of: one('preview'),
  params,
  responses: { 200: s.bytes<Bytes>() },
  throws: [NotFound],
  async handle({ params }, { previews, bytes }) {
    return { status: 200, body: bytes.show(await existing(previews, params.id)) }
  },
})

export const deletePreview = route({
  method: 'DELETE',
  path: '/api/previews/:id',
  summary: 'Delete a preview',
  permission: 'DeleteFile',
  of: one('preview'),
  params,
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params, caller }, { previews }) {
    await previews.removePreview(await existing(previews, params.id), caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const listFilePreviews = route({
  method: 'GET',
  path: '/api/files/:id/listpreviews',
  summary: 'The previews of a file',
  permission: 'ViewFile',
  of: one('file'),
  params,
  responses: { 200: s.Array(Listed) },
  throws: [NotFound],
  async handle({ params }, { previews }) {
    const shown = await previews.of({ kind: 'file', id: params.id })
    return { status: 200, body: shown.map(({ id, filename, contentType }) => ({ id, filename, contentType })) }
  },
})

export const getFilePreviews = route({
  method: 'GET',
  path: '/api/files/:id/getPreviews',
  summary: 'How to show a file: each preview with the previewer that can show it, else the file itself',
  permission: 'ViewFile',
  of: one('file'),
  params,
  responses: { 200: s.Array(PreviewMatch) },
  throws: [NotFound],
  async handle({ params, caller }, { matching }) {
    return { status: 200, body: await matching.ofFile(params.id, caller) }
  },
})

export const uploadThumbnail = route({
  method: 'POST',
  path: '/api/fileThumbnail',
  summary: 'Upload a thumbnail, to be attached next',
  permission: 'CreatePreview',
  body: aFile,
  responses: { 200: madeOne },
  throws: [Invalid],
  async handle({ body, caller, signal }, { previews, derived }) {
    return { status: 200, body: { id: await previews.uploadThumbnail(await derived.receive(body, signal), caller) } }
  },
})

export const attachThumbnail = route({
  method: 'POST',
  path: '/api/files/:id/thumbnails/:thumbnail',
  summary: 'Attach a thumbnail to a file',
  description: 'Its datasets, and their collections, get it too where they have none.',
  permission: 'AddFile',
  of: one('file'),
  also: [{ permission: 'AddFile', of: one('thumbnail', 'thumbnail') }],
  params: s.Object({ id: s.id(), thumbnail: s.id() }),
  body: s.Optional(s.Unknown()),
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params, caller }, { previews }) {
    await previews.attachThumbnail(params.thumbnail, { kind: 'file', id: params.id }, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const getThumbnail = route({
  method: 'GET',
  path: '/api/thumbnails/:id/blob',
  aliases: [{ path: '/api/thumbnails/:id' }],
  summary: "A thumbnail's picture",
  permission: 'ViewFile',
  of: one('thumbnail'),
  params,
  responses: { 200: s.bytes<Bytes>() },
  throws: [NotFound],
  async handle({ params }, { previews, bytes }) {
    const thumbnail = await previews.thumbnail(params.id)
    if (!thumbnail) throw new NotFound('thumbnail')
    return { status: 200, body: bytes.show(thumbnail) }
  },
})
