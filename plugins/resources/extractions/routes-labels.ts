import { Conflict, Invalid, NotFound, routesFor, s } from 'pounce/sdk'
import { type Label, Labels } from './stored-labels.ts'

const route = routesFor('extractors', { labels: Labels })

const body = s.Object({
  name: s.String({ minLength: 1, maxLength: 200, pattern: '^[^\\u0000-\\u001f\\u007f]*\\S[^\\u0000-\\u001f\\u007f]*$' }),
  category: s.Optional(s.String({ maxLength: 200 })),
  extractors: s.Array(s.String({ minLength: 1, maxLength: 200 }), { maxItems: 1000 }),
})
const ShownLabel = s.Object({
  id: s.String(),
  name: s.String(),
  category: s.Union([s.String(), s.Null()]),
  extractors: s.Array(s.String()),
})
const params = s.Object({ label: s.String({ maxLength: 100 }) })

const show = ({ id, name, category, extractors }: Label): s.Static<typeof ShownLabel> => ({
  id,
  name,
  category,
  extractors: [...extractors],
})
const read = ({ name, category, extractors }: s.Static<typeof body>) => ({
  name: name.trim(),
  category: category === undefined || category === '' ? null : category,
  extractors: [...new Set(extractors)],
})

export const listExtractorLabels = route({
  method: 'GET',
  path: '/api/extractors/labels',
  summary: 'The labels of extractors, by name',
  description: 'Our own addition: v1 shows them on its pages only. Those that extractors name when they register are among them.',
  permission: 'signedIn',
  responses: { 200: s.Array(ShownLabel) },
  async handle(_request, { labels }) {
    return { status: 200, body: (await labels.all()).map(show) }
  },
})

export const createExtractorLabel = route({
  method: 'POST',
  path: '/api/extractors/labels',
  summary: 'Make a label for extractors',
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
  summary: 'Change a label of extractors',
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
  summary: 'Remove a label of extractors',
  permission: 'serverAdmin',
  params,
  responses: { 200: ShownLabel },
  throws: [NotFound],
  async handle({ params }, { labels }) {
    return { status: 200, body: show(await labels.remove(params.label)) }
  },
})
