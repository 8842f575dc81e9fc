import {
  type Bytes,
  demandPlaced,
  Forbidden,
  Installation,
  Invalid,
  linkToNext,
  multipart,
  NotFound,
  one,
  Policy,
  pageOf,
  routesFor,
  s,
} from 'pounce/sdk'
import { BytesOf } from './bytes-of.ts'
import type { Preview } from './collections.ts'
import { listQuery, seenOf } from './derived-list.ts'
import { Derived } from './derived-store.ts'
import { Matching, PreviewMatch } from './matching.ts'
import { PreviewDesk, type StoredPreviews } from './stored-previews.ts'

const needs = { previews: PreviewDesk, derived: Derived, matching: Matching, bytes: BytesOf, installation: Installation, policy: Policy }
const route = routesFor('previews', needs)

const params = s.Object({ id: s.id() })
const Listed = s.Object({ id: s.String(), filename: s.String(), contentType: s.String() })

const existing = async (previews: StoredPreviews, id: string): Promise<Preview> => {
  const preview = await previews.preview(id)
  if (!preview) throw new NotFound('preview')
  return preview
}

export const uploadPreview = route({
  method: 'POST',
  path: '/api/previews',
  summary: 'Upload a preview, to be attached next',
  permission: 'AddFile',
  description:
    "A text field `title` names it. XML is taken for a Deep Zoom picture. What is attached to nothing is its maker's alone, and goes after a week.",
  query: s.Object({ iipKey: s.Optional(s.String({ maxLength: 500, description: 'Of a pyramid that another server holds' })) }),
  body: multipart('One file part named `File`, and text fields', 100),
  responses: { 200: s.Object({ id: s.String() }) },
  throws: [Invalid, Forbidden],
  async handle({ query, body, caller, signal }, { previews, derived }) {
    demandPlaced(caller, false)
    return { status: 200, body: { id: await previews.upload(await derived.receive(body, signal), caller, query.iipKey) } }
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
    return { status: 200, body: [...(await matching.ofFile(params.id, caller))] }
  },
})

export const getDatasetPreviews = route({
  method: 'GET',
  path: '/api/datasets/:id/getPreviews',
  summary: 'How to show the files in the root of a dataset',
  description:
    'Those that were uploaded to be shown with their dataset (`showPreviews`), by name. Written as they are found, so any number may come.',
  permission: 'ViewDataset',
  of: one('dataset'),
  params,
  responses: { 200: s.rows(PreviewMatch) },
  throws: [NotFound],
  async handle({ params, caller }, { matching }) {
    return { status: 200, body: matching.ofDataset(params.id, caller) }
  },
})

export const listPreviews = route({
  method: 'GET',
  path: '/api/previews',
  summary: 'All previews of the server, newest first',
  description:
    'Those that the caller may see: with `superAdmin=true` all of them. Pages, which can be short, through the `Link` header. Clowder 1.x showed them to everybody.',
  permission: 'serverAdmin',
  query: listQuery,
  responses: { 200: s.Array(Listed) },
  throws: [Invalid],
  async handle({ query, caller, url }, { previews, installation, policy }) {
    const page = await previews.page(pageOf(query))
    const seen = await seenOf(policy, caller, 'preview', page.items)
    const body = seen.map(({ id, filename, contentType }) => ({ id, filename, contentType }))
    return { status: 200, body, ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})
