import { type Caller, Invalid, type Kind, NotFound, one, routesFor, s } from 'pounce/sdk'
import { TagDesk } from './stored-tags.ts'

const route = routesFor('tags', { tags: TagDesk })

const params = s.Object({ id: s.id() })
const names = s.Array(s.prose(1000), { minItems: 1, maxItems: 1000 })
const added = s.Object({ status: s.Literal('success'), tags: s.Array(s.Object({ id: s.String(), name: s.String() })) })

const by = (caller: Caller, extractor: string | undefined): { user?: string; extractor?: string } => {
  if (caller.user) return { user: caller.user.id, ...(caller.scope === 'extraction' && extractor ? { extractor } : {}) }
  if (extractor === undefined) throw new Invalid('extractor_id is missing: with the service key it must say which extractor adds the tags')
  return { extractor }
}

const addTo = (kind: Kind, plural: string) =>
  route({
    method: 'POST',
    path: `/api/${plural}/:id/tags`,
    summary: `Put tags on a ${kind}`,
    description: 'Blanks are tidied, a tag the same person put there before is skipped, empty ones are refused.',
    permission: 'AddTag',
    of: one(kind),
    params,
    body: s.Object({ tags: names, extractor_id: s.Optional(s.String({ minLength: 1, maxLength: 500 })) }),
    responses: { 200: added },
    throws: [Invalid, NotFound],
    async handle({ params, body, caller }, { tags }) {
      const fresh = await tags.add({ kind, id: params.id }, body.tags, by(caller, body.extractor_id))
      return { status: 200, body: { status: 'success' as const, tags: fresh.map(({ id, name }) => ({ id, name })) } }
    },
  })

const removeFrom = (kind: Kind, plural: string) =>
  route({
    method: 'DELETE',
    path: `/api/${plural}/:id/tags`,
    aliases: [{ method: 'POST', path: `/api/${plural}/:id/tags/remove` }],
    summary: `Take tags off a ${kind} by name`,
    description: 'Whoever put them there. Names that it does not carry are no error.',
    permission: 'DeleteTag',
    of: one(kind),
    params,
    body: s.Object({ tags: names }),
    responses: { 200: s.success() },
    throws: [Invalid, NotFound],
    async handle({ params, body, caller }, { tags }) {
      const gone = new Set(body.tags.map(name => name.trim().replace(/\s+/gu, ' ')))
      await tags.remove({ kind, id: params.id }, tag => gone.has(tag.name), caller.user?.id)
      return { status: 200, body: { status: 'success' } }
    },
  })

const removeAllFrom = (kind: Kind, plural: string) =>
  route({
    method: 'POST',
    path: `/api/${plural}/:id/tags/remove_all`,
    summary: `Take all tags off a ${kind}`,
    permission: 'DeleteTag',
    of: one(kind),
    params,
    responses: { 200: s.success() },
    throws: [NotFound],
    async handle({ params, caller }, { tags }) {
      await tags.remove({ kind, id: params.id }, () => true, caller.user?.id)
      return { status: 200, body: { status: 'success' } }
    },
  })

export const getFileTags = route({
  method: 'GET',
  path: '/api/files/:id/tags',
  summary: 'The tags of a file, names only',
  permission: 'ViewFile',
  of: one('file'),
  params,
  responses: { 200: s.Object({ id: s.String(), filename: s.String(), tags: s.Array(s.String()) }) },
  throws: [NotFound],
  async handle({ params }, { tags }) {
    const file = await tags.of({ kind: 'file', id: params.id })
    return { status: 200, body: { id: file.id, filename: file.name, tags: file.tags.map(tag => tag.name) } }
  },
})
export const addFileTags = addTo('file', 'files')
export const removeFileTags = removeFrom('file', 'files')
export const removeAllFileTags = removeAllFrom('file', 'files')

export const getDatasetTags = route({
  method: 'GET',
  path: '/api/datasets/:id/tags',
  summary: 'The tags of a dataset, names only',
  permission: 'ViewDataset',
  of: one('dataset'),
  params,
  responses: { 200: s.Object({ id: s.String(), name: s.String(), tags: s.Array(s.String()) }) },
  throws: [NotFound],
  async handle({ params }, { tags }) {
    const dataset = await tags.of({ kind: 'dataset', id: params.id })
    return { status: 200, body: { id: dataset.id, name: dataset.name, tags: dataset.tags.map(tag => tag.name) } }
  },
})
export const addDatasetTags = addTo('dataset', 'datasets')
export const removeDatasetTags = removeFrom('dataset', 'datasets')
export const removeAllDatasetTags = removeAllFrom('dataset', 'datasets')
