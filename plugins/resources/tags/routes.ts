import { type Caller, Invalid, type Kind, NotFound, ref, routesFor, s, type Tag } from 'pounce/sdk'
import { StoredTags, withoutEmpty } from './stored-tags.ts'

const route = routesFor('tags', { tags: StoredTags })

const params = s.Object({ id: s.id() })
const names = s.Union([s.Array(s.prose(1000), { maxItems: 1000 }), s.prose(100_000)], {
  description: 'A list, or one text with tags separated by commas',
})
const Items = s.Array(s.Object({ id: s.String(), name: s.String() }), {
  description: 'Tags with their ids, as required by some delete routes',
})
const added = s.Object({ status: s.Literal('success'), tags: s.Array(s.Object({ id: s.String(), name: s.String() })) })

const ExtractorId = s.Unknown({
  description: 'Name of the extractor, as text: required with the communication key, ignored with keys of users',
})

/** Splits text like the web page of Clowder 1.x. */
const listed = (tags: string | readonly string[]): readonly string[] => (typeof tags === 'string' ? tags.split(',') : tags)

/** Extractors also send the keys of users, and name themselves. They may have found no tags, while a user who sends none made a mistake. */
const namesIn = ({ tags, extractor_id }: { readonly tags: string | readonly string[]; readonly extractor_id?: unknown }) => {
  const names = listed(tags)
  if (typeof extractor_id === 'string' && extractor_id !== '') return withoutEmpty(names)
  if (names.length === 0) throw new Invalid('tags must contain at least one tag')
  return names
}

/** Names only, as in Clowder 1.x, and our addition with ids. */
const shown = (tags: readonly Tag[]) => ({ tags: tags.map(({ name }) => name), items: tags.map(({ id, name }) => ({ id, name })) })

const maxExtractorLength = 500

/** Scripts send null or an empty string with keys of users, which cannot act as an extractor: it is then ignored, as in Clowder 1.x. */
const by = (caller: Caller, given: unknown): { user?: string; extractor?: string } => {
  const user = caller.user?.id
  if (user !== undefined && caller.scope !== 'extraction') return { user }
  if (given === undefined || given === null || given === '') {
    if (user !== undefined) return { user }
    throw new Invalid('extractor_id is missing: it is required with the communication key')
  }
  if (typeof given !== 'string' || given.length > maxExtractorLength)
    throw new Invalid(`extractor_id must be text of 1 to ${maxExtractorLength} characters`)
  return user === undefined ? { extractor: given } : { user, extractor: given }
}

/** Jobs have files and datasets as targets; sections are handled below. */
const forJobs = (kind: Kind) => (kind === 'collection' ? {} : ({ jobKeys: 'allowed' } as const))

const addTo = (kind: Kind, plural: string) =>
  route({
    method: 'POST',
    path: `/api/${plural}/:id/tags`,
    summary: `Add tags to a ${kind}`,
    description:
      'Whitespace is normalized, a tag that the same user added before is skipped. Empty tags are rejected, or dropped if there is an `extractor_id`. The response has the new tags.',
    permission: { right: 'AddTag', on: ref(kind, 'id') },
    ...forJobs(kind),
    params,
    body: s.Object({ tags: names, extractor_id: s.Optional(ExtractorId) }),
    responses: { 200: added },
    throws: [Invalid, NotFound],
    async handle({ params, body, caller }, { tags }) {
      const fresh = await tags.add({ kind, id: params.id }, namesIn(body), by(caller, body.extractor_id))
      return { status: 200, body: { status: 'success' as const, tags: fresh.map(({ id, name }) => ({ id, name })) } }
    },
  })

const removeFrom = (kind: Kind, plural: string) =>
  route({
    method: 'DELETE',
    path: `/api/${plural}/:id/tags`,
    aliases: [{ method: 'POST', path: `/api/${plural}/:id/tags/remove` }],
    summary: `Remove tags from a ${kind} by name`,
    description: 'Regardless of who added them. No error if a tag does not exist.',
    permission: { right: 'DeleteTag', on: ref(kind, 'id') },
    params,
    body: s.Object({ tags: names }),
    responses: { 200: s.success() },
    throws: [Invalid, NotFound],
    async handle({ params, body, caller }, { tags }) {
      await tags.removeNamed({ kind, id: params.id }, listed(body.tags), caller.user?.id)
      return { status: 200, body: { status: 'success' } }
    },
  })

const removeAllFrom = (kind: Kind, plural: string) =>
  route({
    method: 'POST',
    path: `/api/${plural}/:id/tags/remove_all`,
    summary: `Remove all tags from a ${kind}`,
    permission: { right: 'DeleteTag', on: ref(kind, 'id') },
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
  summary: 'List the tags of a file',
  permission: { right: 'ViewFile', on: ref('file', 'id') },
  jobKeys: 'allowed',
  params,
  responses: { 200: s.model('FileTags', s.Object({ id: s.String(), filename: s.String(), tags: s.Array(s.String()), items: Items })) },
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
    summary: `List the tags of a ${kind}`,
    permission: { right: permission, on: ref(kind, 'id') },
    ...forJobs(kind),
    params,
    responses: { 200: s.model('Tags', s.Object({ id: s.String(), name: s.String(), tags: s.Array(s.String()), items: Items })) },
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
  summary: 'Remove a tag from a dataset by its id',
  description: 'No error if the tag does not exist.',
  permission: { right: 'DeleteTag', on: ref('dataset', 'id') },
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
  summary: 'List the tags of a section',
  permission: { right: 'ViewSection', on: ref('section', 'id') },
  jobKeys: 'allowed',
  params,
  responses: { 200: s.model('SectionTags', s.Object({ id: s.String(), file_id: s.String(), tags: s.Array(s.String()), items: Items })) },
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
  summary: 'Remove tags from a section by id or name',
  description: 'Regardless of who added them. Only sections accept ids, as in Clowder 1.x. No error if a tag does not exist.',
  permission: { right: 'DeleteTag', on: ref('section', 'id') },
  params,
  body: s.Object({ tags: names }),
  responses: { 200: s.success() },
  throws: [Invalid, NotFound],
  async handle({ params, body, caller }, { tags }) {
    await tags.removeNamedOrWithId({ kind: 'section', id: params.id }, listed(body.tags), caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})
export const removeAllSectionTags = removeAllFrom('section', 'sections')
