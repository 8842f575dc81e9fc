import { Invalid, type Json, NotFound, type Permission, type Ref, ref, routesFor, s } from 'pounce/sdk'
import { PreviewAttachment } from './preview-attachment.ts'
import { StoredPreviews } from './stored-previews.ts'

const route = routesFor('previews', { attaching: PreviewAttachment, previews: StoredPreviews })

const Values = s.Record(s.String(), s.Unknown())
const params = s.Object({ id: s.id(), preview: s.id() })

const attachTo = (kind: 'file' | 'collection', permission: Permission) =>
  route({
    method: 'POST',
    path: `/api/${kind}s/:id/previews/:preview`,
    summary: `Attach a preview to a ${kind}`,
    description: `\`extractor_id\` names the creator (\`Other\` by default); the other members replace its metadata. Requires ${permission} on the ${kind}. If the ${kind} does not exist, an unattached preview is deleted.`,
    permission: { right: 'AddFile', on: ref('preview', 'preview') },
    ...(kind === 'file' ? ({ jobKeys: 'allowed' } as const) : {}),
    params,
    body: Values,
    responses: { 200: s.success() },
    throws: [NotFound, Invalid],
    async handle({ params, body, caller }, { attaching }) {
      const { extractor_id: named, ...metadata } = body as Record<string, Json>
      const extractor = typeof named === 'string' && named !== '' ? named.slice(0, 500) : 'Other'
      await attaching.attach(params.preview, { target: { kind, id: params.id }, permission }, { extractor, metadata }, caller)
      return { status: 200, body: { status: 'success' } }
    },
  })

export const attachPreview = attachTo('file', 'AddFile')
export const attachCollectionPreview = attachTo('collection', 'EditCollection')

const named = (kind: 'file' | 'section', id: Json): Ref => {
  if (!s.isId(id)) throw new Invalid(`${kind}_id must be the id of a ${kind}: 24 lower-case hex digits`)
  return { kind, id }
}

export const describePreview = route({
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
      const by = typeof extractor === 'string' ? extractor.slice(0, 500) : undefined
      await attaching.attach(params.id, { target, permission: 'AddFile' }, { extractor: by, metadata }, caller)
    }
    return { status: 200, body: { status: 'success' } }
  },
})
