import {
  demand,
  Installation,
  Invalid,
  type Json,
  type Kind,
  NotFound,
  one,
  Policy,
  type Ref,
  routesFor,
  s,
  shownMetadata,
} from 'pounce/sdk'
import { Annotations } from './annotating.ts'
import { htmlOf } from './document-html.ts'
import { Content, Context, ShownDocument } from './json-ld.ts'
import { metadataBytes } from './routes.ts'
import { MetadataDesk } from './stored-metadata.ts'

const route = routesFor('metadata', { annotations: Annotations, documents: MetadataDesk, policy: Policy, installation: Installation })

const params = s.Object({ id: s.id() })
const kinds: readonly Kind[] = ['file', 'dataset', 'collection', 'space']

/** The one thing that a body names. */
const targetOf = (body: Readonly<Record<string, unknown>>): Ref => {
  const named = kinds.flatMap(kind => (body[`${kind}_id`] === undefined ? [] : [{ kind, id: String(body[`${kind}_id`]) }]))
  const [target, ...others] = named
  if (!target || others.length > 0) throw new Invalid('Invalid resource type: send one of file_id, dataset_id, collection_id or space_id')
  return target
}

export const addOwnMetadata = route({
  method: 'POST',
  path: '/api/metadata.jsonld',
  summary: 'Say something of a file or dataset in one’s own name',
  description: 'The answer has the HTML that pages of Clowder 1.x put in, and, as an addition, the document.',
  permission: 'AddMetadata',
  body: s.Object({
    '@context': s.Optional(Context),
    file_id: s.Optional(s.String({ maxLength: 100 })),
    dataset_id: s.Optional(s.String({ maxLength: 100 })),
    collection_id: s.Optional(s.String({ maxLength: 100, description: 'An addition to Clowder 1.x' })),
    space_id: s.Optional(s.String({ maxLength: 100, description: 'An addition to Clowder 1.x' })),
    content: Content,
  }),
  maxBodyBytes: metadataBytes,
  responses: { 200: s.Object({ cards: s.String(), table: s.String(), document: ShownDocument }) },
  throws: [Invalid, NotFound],
  async handle({ body, caller }, { annotations, policy, installation }) {
    const target = targetOf(body)
    await demand(policy, caller, 'AddMetadata', target)
    const said = annotations.own(body.content as Json, body['@context'] as Json | undefined, caller)
    const document = await annotations.add(target, said)
    const html = htmlOf(document.id, document.agent.name, document.content)
    return { status: 200, body: { ...html, document: shownMetadata(document, installation.baseUrl) } }
  },
})

export const getMetadata = route({
  method: 'GET',
  path: '/api/metadata.jsonld/:id',
  summary: 'One JSON-LD document',
  description: 'Our own addition.',
  permission: 'ViewMetadata',
  of: one('metadata'),
  params,
  responses: { 200: ShownDocument },
  throws: [NotFound],
  async handle({ params }, { documents, installation }) {
    const document = await documents.get(params.id)
    if (!document) throw new NotFound('metadata')
    return { status: 200, body: shownMetadata(document, installation.baseUrl) }
  },
})

export const removeMetadata = route({
  method: 'DELETE',
  path: '/api/metadata.jsonld/:id',
  summary: 'Remove one JSON-LD document',
  description: 'For who sent it, and for those who may remove metadata of what it is attached to.',
  permission: 'DeleteMetadata',
  of: one('metadata'),
  params,
  responses: { 200: s.Object({ status: s.Literal('ok') }) },
  throws: [NotFound],
  async handle({ params, caller }, { documents }) {
    const document = await documents.get(params.id)
    if (!document) throw new NotFound('metadata')
    await documents.remove(document, caller.user?.id)
    return { status: 200, body: { status: 'ok' as const } }
  },
})
