import {
  authorize,
  type Bytes,
  type Caller,
  Forbidden,
  Installation,
  Invalid,
  type Json,
  multipart,
  NotFound,
  type Permission,
  Policy,
  type Ref,
  ref,
  routesFor,
  s,
  wire,
} from 'pounce/sdk'
import { linkToNext, pageOf, requirePlaced } from 'pounce/sdk/kit'
import type { Preview } from './collections.ts'
import { DerivedBytes } from './derived-bytes.ts'
import { DerivedStore, listQuery, seenOf, shortened } from './derived-store.ts'
import { PreviewMatch, PreviewMatching } from './matching.ts'
import { StoredPreviews } from './stored-previews.ts'

const needs = {
  previews: StoredPreviews,
  derived: DerivedStore,
  matching: PreviewMatching,
  bytes: DerivedBytes,
  installation: Installation,
  policy: Policy,
}

const route = routesFor('previews', needs)

const params = s.Object({ id: s.id() })

const Listed = s.model('Preview', s.Object({ id: s.String(), filename: s.String(), contentType: s.String() }))

const existing = async (previews: StoredPreviews, id: string): Promise<Preview> => {
  const preview = await previews.preview(id)
  if (!preview) throw new NotFound('preview')
  return preview
}

export const uploadPreview = route({
  method: 'POST',
  path: '/api/previews',
  summary: 'Upload a preview',
  permission: { right: 'AddFile', unscoped: 'The preview is new, attached to nothing, and accessible to its uploader only.' },
  jobKeys: 'allowed',
  description:
    'The text field `title` sets its title. XML is taken as a Deep Zoom image. Attach the preview afterwards: until then it is visible to its uploader only, and it is deleted after a week.',
  query: s.Object({ iipKey: s.Optional(s.String({ maxLength: 500, description: 'Key of a pyramid on another server' })) }),
  body: multipart('One file part named `File`, and text fields', 100, { File: 'file', title: 'text' }),
  responses: { 200: s.Object({ id: s.String() }) },
  throws: [Invalid, Forbidden],
  async handle({ query, body, caller, signal }, { previews, derived }) {
    requirePlaced(caller, false)
    return { status: 200, body: { id: await previews.upload(await derived.receive(body, signal), caller, query.iipKey) } }
  },
})

export const getPreviewInfo = route({
  method: 'GET',
  path: '/api/previews/:id/metadata',
  summary: 'Get the type and title of a preview',
  permission: { right: 'ViewFile', on: ref('preview', 'id') },
  jobKeys: 'allowed',
  params,
  responses: { 200: s.model('PreviewInfo', s.Object({ id: s.String(), contentType: s.String(), title: s.Union([s.String(), s.Null()]) })) },
  throws: [NotFound],
  async handle({ params }, { previews }) {
    const { id, contentType, title } = await existing(previews, params.id)
    return { status: 200, body: { id, contentType, title } }
  },
})

export const titlePreview = route({
  method: 'POST',
  path: '/api/previews/:id/title',
  summary: 'Set the title of a preview',
  description: 'Double quotes are removed, as in Clowder 1.x.',
  permission: { right: 'AddFile', on: ref('preview', 'id') },
  jobKeys: 'allowed',
  params,
  body: s.Object({ title: s.line() }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid],
  async handle({ params, body }, { previews }) {
    const title = body.title.replaceAll('"', '')
    if (title.trim() === '') throw new Invalid('title must have more than quotes')
    await previews.describe(params.id, { title })
    return { status: 200, body: { status: 'success' } }
  },
})

export const getPreview = route({
  method: 'GET',
  path: '/api/previews/:id',
  summary: 'Download a preview',
  permission: { right: 'ViewFile', on: ref('preview', 'id') },
  jobKeys: 'allowed',
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
  permission: { right: 'DeleteFile', on: ref('preview', 'id') },
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
  summary: 'List the previews of a file',
  permission: { right: 'ViewFile', on: ref('file', 'id') },
  jobKeys: 'allowed',
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
  summary: "List a file's previews with their previewers",
  description: 'Each preview with the previewer that can show it, or else the file itself.',
  permission: { right: 'ViewFile', on: ref('file', 'id') },
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
  summary: "List previews of a dataset's files with previewers",
  description: 'Previews uploaded for their dataset (`showPreviews`), by name. Streamed, so there is no limit.',
  permission: { right: 'ViewDataset', on: ref('dataset', 'id') },
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
  summary: 'List all previews, newest first',
  description:
    'Previews that the caller may view; with `superAdmin=true` all of them. Paginated by the `Link` header; a page can be shorter than `limit`. In Clowder 1.x for everyone.',
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

/** What a preview is attached to, and the permission that this requires. */
type Destination = { readonly target: Ref; readonly permission: Permission }
type Description = { readonly extractor: string | undefined; readonly metadata: Readonly<Record<string, Json>> }

/** The target of a preview is set by callers who may add to the target; the right to the preview itself has been checked. */
class PreviewAttachment {
  #previews: StoredPreviews
  #policy: Policy

  constructor(previews: StoredPreviews, policy: Policy) {
    this.#previews = previews
    this.#policy = policy
  }

  async attach(id: string, { target, permission }: Destination, { extractor, metadata }: Description, caller: Caller): Promise<void> {
    await authorize(this.#policy, caller, permission, target)
    await this.#previews.attach(id, target, { extractor, metadata }, caller.user?.id)
  }

  /** An unattached preview whose target is missing or hidden from the caller is deleted, as in Clowder 1.x. */
  async attachOrDelete(id: string, to: Destination, description: Description, caller: Caller): Promise<void> {
    try {
      await this.attach(id, to, description, caller)
    } catch (error) {
      const preview = error instanceof NotFound ? await this.#previews.preview(id) : undefined
      if (preview?.target === null) await this.#previews.removePreview(preview, caller.user?.id)
      throw error
    }
  }
}
wire(PreviewAttachment, StoredPreviews, Policy)

const attachmentRoute = routesFor('previews', { attaching: PreviewAttachment, previews: StoredPreviews })

const Values = s.Record(s.String(), s.Unknown())

const attachmentParams = s.Object({ id: s.id(), preview: s.id() })

const attachTo = (kind: 'file' | 'collection', permission: Permission) =>
  attachmentRoute({
    method: 'POST',
    path: `/api/${kind}s/:id/previews/:preview`,
    summary: `Attach a preview to a ${kind}`,
    description: `\`extractor_id\` names the creator (\`Other\` by default); the other members replace its metadata. Requires ${permission} on the ${kind}. If the ${kind} does not exist, an unattached preview is deleted.`,
    permission: { right: 'AddFile', on: ref('preview', 'preview') },
    ...(kind === 'file' ? ({ jobKeys: 'allowed' } as const) : {}),
    params: attachmentParams,
    body: Values,
    responses: { 200: s.success() },
    throws: [NotFound, Invalid],
    async handle({ params, body, caller }, { attaching }) {
      const { extractor_id: named, ...metadata } = body as Record<string, Json>
      const extractor = typeof named === 'string' && named !== '' ? shortened(named) : 'Other'
      await attaching.attachOrDelete(params.preview, { target: { kind, id: params.id }, permission }, { extractor, metadata }, caller)
      return { status: 200, body: { status: 'success' } }
    },
  })

const named = (kind: 'file' | 'section', id: Json): Ref => {
  if (!s.isId(id)) throw new Invalid(`${kind}_id must be the id of a ${kind}: 24 lower-case hex digits`)
  return { kind, id }
}

export const attachPreview = attachTo('file', 'AddFile')

export const attachCollectionPreview = attachTo('collection', 'EditCollection')

export const describePreview = attachmentRoute({
  method: 'POST',
  path: '/api/previews/:id/metadata',
  summary: 'Replace the metadata of a preview',
  description: 'A `section_id` or `file_id` among the members attaches the preview to it; null and empty text count as absent.',
  permission: { right: 'AddFile', on: ref('preview', 'id') },
  jobKeys: 'allowed',
  params: s.Object({ id: s.id() }),
  body: Values,
  responses: { 200: s.success() },
  throws: [NotFound, Invalid],
  async handle({ params, body, caller }, { attaching, previews }) {
    const { extractor_id: extractor, file_id: file, section_id: section, ...metadata } = body as Record<string, Json>
    const target = section ? named('section', section) : file ? named('file', file) : undefined
    if (!target) await previews.describe(params.id, { metadata })
    else {
      const by = typeof extractor === 'string' ? shortened(extractor) : undefined
      await attaching.attach(params.id, { target, permission: 'AddFile' }, { extractor: by, metadata }, caller)
    }
    return { status: 200, body: { status: 'success' } }
  },
})
