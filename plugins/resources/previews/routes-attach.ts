import { Invalid, type Json, NotFound, one, type Permission, type Ref, routesFor, s } from 'pounce/sdk'
import { AttachDesk } from './attaching.ts'
import { PreviewDesk } from './stored-previews.ts'

const route = routesFor('previews', { attaching: AttachDesk, previews: PreviewDesk })

const Values = s.Record(s.String(), s.Unknown())
const params = s.Object({ id: s.id(), preview: s.id() })

const attachTo = (kind: 'file' | 'collection', permission: Permission) =>
  route({
    method: 'POST',
    path: `/api/${kind}s/:id/previews/:preview`,
    summary: `Attach a preview to a ${kind}`,
    description: `\`extractor_id\` names who made it (\`Other\` when absent); the other members replace its metadata. It takes ${permission} on the ${kind}. When that is not there, a preview that is attached to nothing is deleted.`,
    permission: 'AddFile',
    of: one('preview', 'preview'),
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
  summary: "Replace a preview's metadata",
  description: 'A `section_id` or `file_id` among the members attaches the preview to it; null and empty text count as absent.',
  permission: 'AddFile',
  of: one('preview'),
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
