import { Forbidden, Invalid, type Json, NotFound, routesFor, s } from 'pounce/sdk'
import { baseContext } from './base-context.ts'
import { Context } from './json-ld.ts'
import { type ContextRecord, Contexts } from './stored-contexts.ts'

const route = routesFor('contexts', { contexts: Contexts })

const params = s.Object({ id: s.id() })
const ContextJson = s.Object({ '@context': s.Unknown() })

const show = (found: ContextRecord | undefined): s.Static<typeof ContextJson> => {
  if (!found) throw new NotFound('context')
  return { '@context': found.context }
}

export const addContext = route({
  method: 'POST',
  path: '/api/contexts',
  summary: 'Keep a JSON-LD context under a name',
  permission: 'EditMetadata',
  body: s.Object({ context_name: s.line(200), '@context': Context }),
  responses: { 200: s.Object({ id: s.String() }) },
  throws: [Invalid],
  async handle({ body, caller }, { contexts }) {
    return { status: 200, body: { id: await contexts.add(body.context_name, body['@context'] as Json, caller) } }
  },
})

export const getContext = route({
  method: 'GET',
  path: '/api/contexts/:id',
  summary: 'One kept context',
  permission: 'ViewMetadata',
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
  summary: 'The kept context of a name; of several the oldest',
  permission: 'ViewMetadata',
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
  summary: 'Remove a kept context',
  description: 'For who made it, and for server admins; Clowder 1.x let everybody. Documents keep the contexts that they came with.',
  permission: 'EditMetadata',
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
  summary: 'What the members of a metadata document mean, as a JSON-LD context',
  permission: 'anyone',
  ignoresCredentials: true,
  responses: { 200: s.Object({ '@context': s.Unknown() }) },
  async handle() {
    return { status: 200, body: baseContext }
  },
})
