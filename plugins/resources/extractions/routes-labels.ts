import { Conflict, Invalid, NotFound, routesFor, s } from 'pounce/sdk'
import { optionalOrNull } from 'pounce/sdk/kit'
import { type Label, StoredLabels } from './stored-labels.ts'

const route = routesFor('extractors', { labels: StoredLabels })

const body = s.model(
  'NewExtractorLabel',
  s.Object({
    name: s.line(200),
    category: optionalOrNull(s.String({ maxLength: 200 })),
    extractors: s.Array(s.String({ minLength: 1, maxLength: 200 }), { maxItems: 1000 }),
  }),
)
const ShownLabel = s.model(
  'ExtractorLabel',
  s.Object({
    id: s.String(),
    name: s.String(),
    category: s.Union([s.String(), s.Null()]),
    extractors: s.Array(s.String()),
  }),
)
const params = s.Object({ label: s.String({ maxLength: 100 }) })

const show = ({ id, name, category, extractors }: Label): s.Static<typeof ShownLabel> => ({
  id,
  name,
  category,
  extractors: [...extractors],
})
const read = ({ name, category, extractors }: s.Static<typeof body>) => ({
  name: name.trim(),
  category: category || null,
  extractors: [...new Set(extractors)],
})

export const listExtractorLabels = route({
  method: 'GET',
  path: '/api/extractors/labels',
  summary: 'List extractor labels by name',
  description:
    'An addition to Clowder 1.x, which shows them on web pages only. Includes labels that extractors declare when they register.',
  permission: 'signedIn',
  responses: { 200: s.Array(ShownLabel) },
  async handle(_request, { labels }) {
    return { status: 200, body: (await labels.all()).map(show) }
  },
})

export const createExtractorLabel = route({
  method: 'POST',
  path: '/api/extractors/labels',
  summary: 'Create an extractor label',
  permission: 'serverAdmin',
  body,
  responses: { 200: ShownLabel },
  throws: [Invalid, Conflict],
  async handle({ body }, { labels }) {
    return { status: 200, body: show(await labels.create(read(body))) }
  },
})

export const updateExtractorLabel = route({
  method: 'PUT',
  path: '/api/extractors/labels/:label',
  summary: 'Update an extractor label',
  permission: 'serverAdmin',
  params,
  body,
  responses: { 200: ShownLabel },
  throws: [Invalid, NotFound, Conflict],
  async handle({ params, body }, { labels }) {
    return { status: 200, body: show(await labels.replace(params.label, read(body))) }
  },
})

export const deleteExtractorLabel = route({
  method: 'DELETE',
  path: '/api/extractors/labels/:label',
  summary: 'Delete an extractor label',
  permission: 'serverAdmin',
  params,
  responses: { 200: ShownLabel },
  throws: [NotFound],
  async handle({ params }, { labels }) {
    return { status: 200, body: show(await labels.remove(params.label)) }
  },
})
