import {
  authorize,
  Forbidden,
  Installation,
  Invalid,
  type Json,
  type Kind,
  NotFound,
  Policy,
  type Ref,
  ref,
  routesFor,
  s,
} from 'pounce/sdk'
import { optionalOrNull, shownMetadata } from 'pounce/sdk/kit'
import { Content, JsonLdContext, ShownDocument } from './json-ld.ts'
import { MetadataWriter } from './metadata-writer.ts'
import { metadataBytes } from './routes.ts'
import { isRemovableBy, StoredMetadata } from './stored-metadata.ts'

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escaped = (text: string): string => text.replace(/[&<>"']/g, each => entities[each] ?? each)

const maxFields = 500

const maxValueLength = 2000

const textOf = (value: Json): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return escaped(text.length > maxValueLength ? `${text.slice(0, maxValueLength)}…`.toWellFormed() : text)
}

const fieldsOf = (content: Json): readonly (readonly [string, Json])[] =>
  typeof content === 'object' && content !== null && !Array.isArray(content)
    ? Object.entries(content as Readonly<Record<string, Json>>).slice(0, maxFields)
    : [['', content]]

/** A document as HTML for the cards and the table of v1's pages. All text is escaped. */
const htmlOf = (id: string, agent: string, content: Json): { readonly cards: string; readonly table: string } => {
  const who = escaped(agent)
  const fields = fieldsOf(content).map(([name, value]) => [escaped(name), textOf(value)] as const)
  const items = fields.map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`).join('')
  return {
    cards: `<div class="panel panel-default" id="metadata_${id}"><div class="panel-heading">Added by ${who}</div><dl class="panel-body">${items}</dl></div>`,
    table: fields.map(([name, value]) => `<tr class="metadata_${id}"><td>${name}</td><td>${value}</td><td>${who}</td></tr>`).join(''),
  }
}

const route = routesFor('metadata', {
  metadataWriter: MetadataWriter,
  storedMetadata: StoredMetadata,
  policy: Policy,
  installation: Installation,
})

const params = s.Object({ id: s.id() })

const kinds: readonly Kind[] = ['file', 'dataset', 'collection', 'space']

/** The one resource that a body names. */
const targetOf = (body: Readonly<Record<string, unknown>>): Ref => {
  const named = kinds.flatMap(kind => {
    const id = body[`${kind}_id`] ?? undefined
    return id === undefined ? [] : [{ kind, id: String(id) }]
  })
  const [target, ...others] = named
  if (!target || others.length > 0) throw new Invalid('Invalid resource type: send one of file_id, dataset_id, collection_id or space_id')
  return target
}

export const addOwnMetadata = route({
  method: 'POST',
  path: '/api/metadata.jsonld',
  summary: 'Add metadata to a file or dataset as the caller',
  description: 'The response has the HTML that pages of Clowder 1.x insert, and, as an addition, the document.',
  permission: { right: 'AddMetadata', unscoped: 'The body names the resource; the handler checks AddMetadata on it.' },
  cost: 'metadata',
  body: s.model(
    'NewUserMetadata',
    s.Object({
      '@context': optionalOrNull(JsonLdContext),
      file_id: optionalOrNull(s.String({ maxLength: 100 })),
      dataset_id: optionalOrNull(s.String({ maxLength: 100 })),
      collection_id: optionalOrNull(s.String({ maxLength: 100, description: 'An addition to Clowder 1.x' })),
      space_id: optionalOrNull(s.String({ maxLength: 100, description: 'An addition to Clowder 1.x' })),
      content: Content,
    }),
  ),
  maxBodyBytes: metadataBytes,
  responses: { 200: s.model('UserMetadata', s.Object({ cards: s.String(), table: s.String(), document: ShownDocument })) },
  throws: [Invalid, NotFound],
  async handle({ body, caller }, { metadataWriter, policy, installation }) {
    const target = targetOf(body)
    await authorize(policy, caller, 'AddMetadata', target)
    const posted = metadataWriter.own(body.content as Json, (body['@context'] ?? undefined) as Json | undefined, caller)
    const document = await metadataWriter.add(target, posted, caller)
    const html = htmlOf(document.id, document.agent.name, document.content)
    return { status: 200, body: { ...html, document: shownMetadata(document, installation.baseUrl) } }
  },
})

export const getMetadata = route({
  method: 'GET',
  path: '/api/metadata.jsonld/:id',
  summary: 'Get a metadata document',
  description: 'An addition to Clowder 1.x.',
  permission: { right: 'ViewMetadata', on: ref('metadata', 'id') },
  params,
  responses: { 200: ShownDocument },
  throws: [NotFound],
  async handle({ params }, { storedMetadata, installation }) {
    const document = await storedMetadata.get(params.id)
    if (!document) throw new NotFound('metadata')
    return { status: 200, body: shownMetadata(document, installation.baseUrl) }
  },
})

export const removeMetadata = route({
  method: 'DELETE',
  path: '/api/metadata.jsonld/:id',
  summary: 'Delete a metadata document',
  description:
    'For its creator, and for users who may delete metadata of the resource. Keys of extractors delete documents of extractors only, keys of jobs those of their extractor.',
  permission: { right: 'DeleteMetadata', on: ref('metadata', 'id') },
  jobKeys: 'allowed',
  params,
  responses: { 200: s.Object({ status: s.Literal('ok') }) },
  throws: [Forbidden, NotFound],
  async handle({ params, caller }, { storedMetadata }) {
    const document = await storedMetadata.get(params.id)
    if (!document) throw new NotFound('metadata')
    if (!isRemovableBy(caller, document)) {
      throw new Forbidden('Keys of extractors delete metadata of extractors only, and keys of jobs that of their own extractor')
    }
    await storedMetadata.remove(document, caller.user?.id)
    return { status: 200, body: { status: 'ok' as const } }
  },
})
