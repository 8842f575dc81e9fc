import { Invalid, NotFound, routesFor, type Stored, s, signedIn } from 'pounce/sdk'
import type { StandardRecord } from './collections.ts'
import { Standards } from './stored-standards.ts'

const route = routesFor('standardvocab', { standards: Standards })

const params = s.Object({ id: s.id() })
const Terms = s.Array(s.String({ maxLength: 1000 }), { maxItems: 10_000, description: 'The words; blanks around them are left out' })
const StandardJson = s.Object({
  id: s.String(),
  created: s.v1Date(),
  lastModified: s.v1Date(),
  url: s.String({ description: 'Serves as `definitions_url` of a metadata definition' }),
  terms: s.Array(s.String()),
})

const show = ({ id, created, modified, terms }: StandardRecord & Stored): s.Static<typeof StandardJson> => ({
  id,
  created: s.toV1Date(created),
  lastModified: s.toV1Date(modified),
  url: `/api/standardvocab/${id}/terms`,
  terms: [...terms],
})

async function* shown(lists: AsyncIterable<StandardRecord & Stored>) {
  for await (const list of lists) yield show(list)
}

export const listStandardVocabularies = route({
  method: 'GET',
  path: '/api/standardvocab',
  summary: 'All standard vocabularies, oldest first',
  permission: 'signedIn',
  responses: { 200: s.rows(StandardJson) },
  async handle(_request, { standards }) {
    return { status: 200, body: shown(standards.all()) }
  },
})

export const createStandardVocabulary = route({
  method: 'POST',
  path: '/api/standardvocab',
  summary: 'Make a standard vocabulary: a list of words that everybody shares',
  permission: 'CreateVocabulary',
  body: Terms,
  responses: { 200: StandardJson },
  throws: [Invalid],
  async handle({ body, caller }, { standards }) {
    return { status: 200, body: show(await standards.add(body, signedIn(caller).id)) }
  },
})

export const getStandardVocabulary = route({
  method: 'GET',
  path: '/api/standardvocab/:id',
  summary: 'One standard vocabulary',
  permission: 'signedIn',
  params,
  responses: { 200: StandardJson },
  throws: [NotFound],
  async handle({ params }, { standards }) {
    const list = await standards.get(params.id)
    if (!list) throw new NotFound('standardvocab')
    return { status: 200, body: show(list) }
  },
})

export const getStandardTerms = route({
  method: 'GET',
  path: '/api/standardvocab/:id/terms',
  summary: 'The words of a standard vocabulary',
  permission: 'signedIn',
  params,
  responses: { 200: s.Array(s.String()) },
  throws: [NotFound],
  async handle({ params }, { standards }) {
    const terms = await standards.terms(params.id)
    if (!terms) throw new NotFound('standardvocab')
    return { status: 200, body: [...terms] }
  },
})

export const updateStandardVocabulary = route({
  method: 'PUT',
  path: '/api/standardvocab/:id',
  summary: 'Give a standard vocabulary other words',
  description: 'The list takes the place of the one before. The lists are shared: whoever may edit vocabularies may edit each of them.',
  permission: 'EditVocabulary',
  params,
  body: Terms,
  responses: { 200: StandardJson },
  throws: [Invalid, NotFound],
  async handle({ params, body }, { standards }) {
    return { status: 200, body: show(await standards.change(params.id, body)) }
  },
})

export const deleteStandardVocabulary = route({
  method: 'DELETE',
  path: '/api/standardvocab/:id',
  summary: 'Delete a standard vocabulary; the answer is what it was',
  permission: 'DeleteVocabulary',
  params,
  responses: { 200: StandardJson },
  throws: [NotFound],
  async handle({ params }, { standards }) {
    return { status: 200, body: show(await standards.remove(params.id)) }
  },
})
