import { Invalid, NotFound, routesFor, type Stored, s, signedIn } from 'pounce/sdk'
import { StoredStandards } from './stored-standards.ts'
import type { StandardRecord } from './stored-vocabularies.ts'

const route = routesFor('standardvocab', { standards: StoredStandards })

const ofStandard = s.Object({ id: s.id('standard vocabulary') })

const Terms = s.Array(s.String({ maxLength: 1000 }), { maxItems: 10_000, description: 'Terms; surrounding whitespace is removed' })

const StandardJson = s.model(
  'StandardVocabulary',
  s.Object({
    id: s.String(),
    created: s.v1Date(),
    lastModified: s.v1Date(),
    url: s.String({ description: 'Usable as `definitions_url` of a metadata definition' }),
    terms: s.Array(s.String()),
  }),
)

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
  summary: 'List standard vocabularies, oldest first',
  permission: 'signedIn',
  responses: { 200: s.rows(StandardJson) },
  async handle(_request, { standards }) {
    return { status: 200, body: shown(standards.all()) }
  },
})

export const createStandardVocabulary = route({
  method: 'POST',
  path: '/api/standardvocab',
  summary: 'Create a standard vocabulary',
  permission: { right: 'CreateVocabulary', unscoped: 'The vocabulary is new.' },
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
  summary: 'Get a standard vocabulary',
  permission: 'signedIn',
  params: ofStandard,
  responses: { 200: StandardJson },
  throws: [NotFound],
  async handle({ params }, { standards }) {
    const list = await standards.get(params.id)
    if (!list) throw new NotFound('standard vocabulary')
    return { status: 200, body: show(list) }
  },
})

export const getStandardTerms = route({
  method: 'GET',
  path: '/api/standardvocab/:id/terms',
  summary: 'List the terms of a standard vocabulary',
  permission: 'signedIn',
  params: ofStandard,
  responses: { 200: s.Array(s.String()) },
  throws: [NotFound],
  async handle({ params }, { standards }) {
    const terms = await standards.terms(params.id)
    if (!terms) throw new NotFound('standard vocabulary')
    return { status: 200, body: [...terms] }
  },
})

export const updateStandardVocabulary = route({
  method: 'PUT',
  path: '/api/standardvocab/:id',
  summary: 'Replace the terms of a standard vocabulary',
  description: 'Standard vocabularies are shared: users who may edit vocabularies may edit any of them.',
  permission: {
    right: 'EditVocabulary',
    unscoped: 'Standard vocabularies belong to the installation; whoever may edit vocabularies may edit each.',
  },
  params: ofStandard,
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
  summary: 'Delete a standard vocabulary',
  permission: {
    right: 'DeleteVocabulary',
    unscoped: 'Standard vocabularies belong to the installation; whoever may delete vocabularies may delete each.',
  },
  params: ofStandard,
  responses: { 200: StandardJson },
  throws: [NotFound],
  async handle({ params }, { standards }) {
    return { status: 200, body: show(await standards.remove(params.id)) }
  },
})
