import { type Caller, Invalid, type Kind, NotFound, one, routesFor, s, type Tag } from 'pounce/sdk'
import { TagDesk, tidy } from './stored-tags.ts'

const route = routesFor('tags', { tags: TagDesk })

const params = s.Object({ id: s.id() })
const names = s.Union([s.Array(s.prose(1000), { minItems: 1, maxItems: 1000 }), s.prose(100_000)], {
  description: 'A list, or one text with commas between the tags',
})
const Items = s.Array(s.Object({ id: s.String(), name: s.String() }), {
  description: 'The tags with their ids, which is what some routes remove by',
})
const added = s.Object({ status: s.Literal('success'), tags: s.Array(s.Object({ id: s.String(), name: s.String() })) })

/** As the web page of Clowder 1.x does with what is typed into it. */
const listed = (tags: string | readonly string[]): readonly string[] => (typeof tags === 'string' ? tags.split(',') : tags)

/** Names alone, as Clowder 1.x has it, and our own addition beside them. */
const shown = (tags: readonly Tag[]) => ({ tags: tags.map(({ name }) => name), items: tags.map(({ id, name }) => ({ id, name })) })

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
    description:
      'Blanks are tidied, a tag the same person put there before is skipped, empty ones are refused. The answer has those that are new.',
    permission: 'AddTag',
    of: one(kind),
    params,
    body: s.Object({ tags: names, extractor_id: s.Optional(s.String({ minLength: 1, maxLength: 500 })) }),
    responses: { 200: added },
    throws: [Invalid, NotFound],
    async handle({ params, body, caller }, { tags }) {
      const fresh = await tags.add({ kind, id: params.id }, listed(body.tags), by(caller, body.extractor_id))
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
      const gone = new Set(listed(body.tags).map(tidy))
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
  summary: 'The tags of a file',
  permission: 'ViewFile',
  of: one('file'),
  params,
  responses: { 200: s.Object({ id: s.String(), filename: s.String(), tags: s.Array(s.String()), items: Items }) },
  throws: [NotFound],
  async handle({ params: { id } }, { tags }) {
    const file = await tags.of({ kind: 'file', id })
    return { status: 200, body: { id, filename: file.name ?? '', ...shown(file.tags) } }
  },
})

const getFrom = (kind: 'dataset' | 'collection', permission: 'ViewDataset' | 'ViewCollection') =>
  route({
    method: 'GET',
    path: `/api/${kind}s/:id/tags`,
    summary: `The tags of a ${kind}`,
    permission,
    of: one(kind),
    params,
    responses: { 200: s.Object({ id: s.String(), name: s.String(), tags: s.Array(s.String()), items: Items }) },
    throws: [NotFound],
    async handle({ params: { id } }, { tags }) {
      const thing = await tags.of({ kind, id })
      return { status: 200, body: { id, name: thing.name ?? '', ...shown(thing.tags) } }
    },
  })

export const addFileTags = addTo('file', 'files')
export const removeFileTags = removeFrom('file', 'files')
export const removeAllFileTags = removeAllFrom('file', 'files')

export const getDatasetTags = getFrom('dataset', 'ViewDataset')
export const addDatasetTags = addTo('dataset', 'datasets')
export const removeDatasetTags = removeFrom('dataset', 'datasets')
export const removeAllDatasetTags = removeAllFrom('dataset', 'datasets')

export const removeDatasetTag = route({
  method: 'POST',
  path: '/api/datasets/:id/removeTag',
  summary: 'Take one tag off a dataset by its id',
  description: 'One that it does not carry is no error.',
  permission: 'DeleteTag',
  of: one('dataset'),
  params,
  body: s.Object({ tagId: s.String({ maxLength: 100 }) }),
  responses: { 200: s.Literal('') },
  throws: [NotFound],
  async handle({ params, body, caller }, { tags }) {
    await tags.remove({ kind: 'dataset', id: params.id }, ({ id }) => id === body.tagId, caller.user?.id)
    return { status: 200, body: '' as const }
  },
})

export const getCollectionTags = getFrom('collection', 'ViewCollection')
export const addCollectionTags = addTo('collection', 'collections')
export const removeCollectionTags = removeFrom('collection', 'collections')
export const removeAllCollectionTags = removeAllFrom('collection', 'collections')

export const getSectionTags = route({
  method: 'GET',
  path: '/api/sections/:id/tags',
  summary: 'The tags of a section',
  permission: 'ViewSection',
  of: one('section'),
  params,
  responses: { 200: s.Object({ id: s.String(), file_id: s.String(), tags: s.Array(s.String()), items: Items }) },
  throws: [NotFound],
  async handle({ params: { id } }, { tags }) {
    const section = await tags.of({ kind: 'section', id })
    return { status: 200, body: { id, file_id: section.file ?? '', ...shown(section.tags) } }
  },
})
export const addSectionTags = addTo('section', 'sections')

export const removeSectionTags = route({
  method: 'DELETE',
  path: '/api/sections/:id/tags',
  aliases: [{ method: 'POST', path: '/api/sections/:id/tags/remove' }],
  summary: 'Take tags off a section by their ids',
  description: 'Whoever put them there. Sections alone go by ids, as in Clowder 1.x; ids that it does not carry are no error.',
  permission: 'DeleteTag',
  of: one('section'),
  params,
  body: s.Object({ tags: s.Array(s.String({ maxLength: 100 }), { minItems: 1, maxItems: 1000 }) }),
  responses: { 200: s.success() },
  throws: [Invalid, NotFound],
  async handle({ params, body, caller }, { tags }) {
    const gone = new Set(body.tags)
    await tags.remove({ kind: 'section', id: params.id }, ({ id }) => gone.has(id), caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})
export const removeAllSectionTags = removeAllFrom('section', 'sections')
