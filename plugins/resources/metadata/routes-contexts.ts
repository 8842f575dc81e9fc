import { Forbidden, Invalid, type Json, NotFound, routesFor, s } from 'pounce/sdk'
import { checkJsonLdContext } from 'pounce/sdk/kit'
import { JsonLdContext } from './json-ld.ts'
import { type ContextRecord, StoredContexts } from './stored-contexts.ts'

const cat = 'https://clowder.ncsa.illinois.edu/terms#'

const xsd = 'http://www.w3.org/2001/XMLSchema#'

/** The meaning of a document's members, apart from its content. Served here and referenced by clients; never fetched by the server. */
const baseContext = {
  '@context': {
    cat,
    prov: 'http://www.w3.org/ns/prov#',
    dcterms: 'http://purl.org/dc/terms/',
    foaf: 'http://xmlns.com/foaf/0.1/',
    agent: 'prov:wasAttributedTo',
    name: 'foaf:name',
    version: 'cat:version',
    user_id: { '@id': 'cat:userId', '@type': '@id' },
    extractor_id: { '@id': 'cat:extractorId', '@type': '@id' },
    created_at: { '@id': 'dcterms:created', '@type': `${xsd}dateTime` },
    attached_to: 'prov:wasDerivedFrom',
    resource_type: { '@id': 'cat:resourceType', '@type': '@id' },
    url: { '@id': 'foaf:page', '@type': '@id' },
    content: 'cat:content',
  },
} as const

const route = routesFor('contexts', { contexts: StoredContexts })

const params = s.Object({ id: s.id() })

const ContextJson = s.Object({ '@context': s.Unknown() })

const show = (found: ContextRecord | undefined): s.Static<typeof ContextJson> => {
  if (!found) throw new NotFound('context')
  return { '@context': found.context }
}

export const addContext = route({
  method: 'POST',
  path: '/api/contexts',
  summary: 'Create a named JSON-LD context',
  permission: { right: 'EditMetadata', unscoped: 'The context is new; contexts belong to the installation.' },
  body: s.Object({ context_name: s.line(200), '@context': JsonLdContext }),
  responses: { 200: s.Object({ id: s.String() }) },
  throws: [Invalid],
  async handle({ body, caller }, { contexts }) {
    checkJsonLdContext(body['@context'])
    return { status: 200, body: { id: await contexts.add(body.context_name, body['@context'] as Json, caller) } }
  },
})

export const getContext = route({
  method: 'GET',
  path: '/api/contexts/:id',
  summary: 'Get a JSON-LD context',
  permission: { right: 'ViewMetadata', unscoped: 'Contexts belong to the installation; whoever may read metadata may read them.' },
  params,
  responses: { 200: ContextJson },
  throws: [NotFound],
  async handle({ params }, { contexts }) {
    return { status: 200, body: show(await contexts.get(params.id)) }
  },
})

export const getContextByName = route({
  method: 'GET',
  path: '/api/contexts/:name/context.json',
  summary: 'Get a JSON-LD context by name',
  permission: { right: 'ViewMetadata', unscoped: 'Contexts belong to the installation; whoever may read metadata may read them.' },
  params: s.Object({ name: s.String({ minLength: 1, maxLength: 200 }) }),
  responses: { 200: ContextJson },
  throws: [NotFound],
  async handle({ params }, { contexts }) {
    return { status: 200, body: show(await contexts.named(params.name)) }
  },
})

export const removeContext = route({
  method: 'DELETE',
  path: '/api/contexts/:id',
  summary: 'Delete a JSON-LD context',
  description: 'For its creator and server admins; in Clowder 1.x for everyone. Documents keep their contexts.',
  permission: {
    right: 'EditMetadata',
    unscoped: 'Contexts belong to the installation; the handler refuses all but the maker and server admins.',
  },
  params,
  responses: { 200: s.text() },
  throws: [Forbidden, NotFound],
  async handle({ params, caller }, { contexts }) {
    await contexts.remove(params.id, caller)
    return { status: 200, body: `The context ${params.id} has been removed` }
  },
})

export const getBaseContext = route({
  method: 'GET',
  path: '/contexts/metadata.jsonld',
  summary: 'Get the JSON-LD context of metadata documents',
  permission: 'anyone',
  ignoresCredentials: true,
  responses: { 200: s.Object({ '@context': s.Unknown() }) },
  async handle() {
    return { status: 200, body: baseContext }
  },
})
