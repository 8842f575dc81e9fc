import { Forbidden, Invalid, NotFound, ref, routesFor, type Stored, s } from 'pounce/sdk'
import { optionalOrNull } from 'pounce/sdk/kit'
import { type RelatedType, type RelationEnd, type RelationRecord, relatedTypes, StoredRelations } from './stored-relations.ts'

const route = routesFor('relations', { relations: StoredRelations })
const params = s.Object({ id: s.id() })
const anId = s.String({ minLength: 1, maxLength: 2000, pattern: '^[^\\u0000-\\u001f\\u007f]+$' })
const End = s.Object({
  id: anId,
  resourceType: s.String({ maxLength: 100, description: `One of ${relatedTypes.join(', ')}` }),
})
const RelationJson = s.model(
  'Relation',
  s.Object({
    id: s.String(),
    source: s.Object({ id: s.String(), resourceType: s.String() }),
    target: s.Object({ id: s.String(), resourceType: s.String() }),
    rdfType: s.Optional(s.String()),
  }),
)

const toJson = ({ id, source, target, rdfType }: RelationRecord & Stored): s.Static<typeof RelationJson> => ({
  id,
  source: { ...source },
  target: { ...target },
  ...(rdfType === null ? {} : { rdfType }),
})

const typeOf = (text: string): RelatedType => {
  const known = relatedTypes.find(type => type === text.toLowerCase())
  if (!known) throw new Invalid(`Unknown resource type ${JSON.stringify(text)}; available: ${relatedTypes.join(', ')}`)
  return known
}
const endOf = ({ id, resourceType }: s.Static<typeof End>): RelationEnd => ({ id, resourceType: typeOf(resourceType) })

async function* shown(found: AsyncIterable<RelationRecord & Stored>): AsyncIterable<s.Static<typeof RelationJson>> {
  for await (const relation of found) yield toJson(relation)
}

export const listRelations = route({
  method: 'GET',
  path: '/api/relations',
  summary: 'List relations',
  description: 'Relations whose source or target the caller has the right for.',
  permission: { right: 'ViewRelation', unscoped: 'The list holds only relations on whose source or target the caller has the right.' },
  responses: { 200: s.rows(RelationJson) },
  async handle({ caller }, { relations }) {
    return { status: 200, body: shown(relations.visible(caller)) }
  },
})

export const searchRelations = route({
  method: 'GET',
  path: '/api/relations/search',
  summary: 'List the ids of related resources',
  permission: { right: 'ViewRelation', unscoped: 'The list holds only relations on whose source or target the caller has the right.' },
  cost: 'search',
  query: s.Object({ sourceId: anId, sourceType: s.String({ maxLength: 100 }), targetType: s.String({ maxLength: 100 }) }),
  responses: { 200: s.rows(s.String()) },
  throws: [Invalid],
  async handle({ query, caller }, { relations }) {
    const source = { id: query.sourceId, resourceType: typeOf(query.sourceType) }
    return { status: 200, body: relations.targets(caller, source, typeOf(query.targetType)) }
  },
})

export const getRelation = route({
  method: 'GET',
  path: '/api/relations/:id',
  summary: 'Get a relation',
  permission: { right: 'ViewRelation', on: ref('relation', 'id') },
  params,
  responses: { 200: RelationJson },
  throws: [NotFound],
  async handle({ params }, { relations }) {
    const relation = await relations.get(params.id)
    if (!relation) throw new NotFound('relation')
    return { status: 200, body: toJson(relation) }
  },
})

export const createRelation = route({
  method: 'POST',
  path: '/api/relations',
  summary: 'Create a relation',
  description:
    'Requires the right on source or target, and that both are visible. An id can be an external URL (http or https). An existing relation is no error, and its id is not returned.',
  permission: {
    right: 'CreateRelation',
    unscoped: 'The body names both ends; the handler checks CreateRelation on one and that the caller may see the other.',
  },
  body: s.model('NewRelation', s.Object({ source: End, target: End, rdfType: optionalOrNull(s.String({ maxLength: 2000 })) })),
  responses: { 200: s.model('RelationResult', s.Object({ status: s.String(), message: s.String(), id: s.Optional(s.String()) })) },
  throws: [Invalid, NotFound, Forbidden],
  async handle({ body, caller }, { relations }) {
    const relation = { source: endOf(body.source), target: endOf(body.target), rdfType: body.rdfType ?? null }
    await relations.mayAdd(caller, relation)
    const id = await relations.add(relation, caller.user?.id)
    if (id === undefined) return { status: 200, body: { status: 'OK', message: 'Relation already exists' } }
    return { status: 200, body: { status: 'OK', message: `Relation '${id}' saved.`, id } }
  },
})

export const deleteRelation = route({
  method: 'DELETE',
  path: '/api/relations/:id',
  summary: 'Delete a relation',
  permission: { right: 'DeleteRelation', on: ref('relation', 'id') },
  params,
  responses: { 200: s.Object({ status: s.String() }) },
  throws: [NotFound],
  async handle({ params }, { relations }) {
    await relations.remove(params.id)
    return { status: 200, body: { status: 'OK' } }
  },
})
