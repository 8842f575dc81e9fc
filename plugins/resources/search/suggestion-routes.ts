import { Invalid, type Request, routesFor, s, Unavailable } from 'pounce/sdk'
import { Suggest } from './suggesting.ts'

const route = routesFor('search', { suggesting: Suggest })

const prefix = () => s.String({ default: '', maxLength: 200, description: 'How it begins; case is ignored' })
const limit = (normally: number, maximum: number) => s.Integer({ default: normally, minimum: 1, maximum })
const count = () => s.Integer({ description: 'Things the caller may see that have it; exact up to 10,000' })

const fieldsQuery = s.Object({ prefix: prefix(), limit: limit(20, 1000) })
export const suggestFields = route({
  method: 'GET',
  path: '/api/search/fields',
  summary: 'Metadata fields to search by, most used first',
  description: 'A field fits when its path, or a part of it, begins with the prefix.',
  permission: 'reader',
  query: fieldsQuery,
  responses: { 200: s.Array(s.Object({ field: s.String(), count: count() })) },
  throws: [Unavailable],
  async handle({ query, caller }: Request<undefined, typeof fieldsQuery, undefined>, { suggesting }) {
    return { status: 200, body: [...(await suggesting.fields(query.prefix, query.limit, caller))] }
  },
})

const valuesQuery = s.Object({ field: s.String({ minLength: 1, maxLength: 1000 }), prefix: prefix(), limit: limit(20, 1000) })
export const suggestValues = route({
  method: 'GET',
  path: '/api/search/values',
  summary: 'Values of a metadata field, or tags, most used first',
  description: 'The field is a whole path or its end; `tag` gives tags. Texts that differ in case only are one value.',
  permission: 'reader',
  query: valuesQuery,
  responses: { 200: s.Array(s.Object({ value: s.Union([s.String(), s.Number()]), count: count() })) },
  throws: [Invalid, Unavailable],
  async handle({ query, caller }: Request<undefined, typeof valuesQuery, undefined>, { suggesting }) {
    const values = await suggesting.values(query.field, query.prefix, query.limit, caller)
    const body = values.map(({ value, count }) => ({ value: value instanceof Date ? value.toISOString() : value, count }))
    return { status: 200, body }
  },
})

const tagsQuery = s.Object({
  prefix: prefix(),
  limit: limit(1000, 10_000),
  kind: s.Optional(
    s.Union([s.Literal('file'), s.Literal('dataset'), s.Literal('collection')], {
      description: 'Only tags of such things, and only these counted',
    }),
  ),
})
export const listTags = route({
  method: 'GET',
  path: '/api/tags',
  summary: 'Tags in use, most used first',
  description: 'Of files (with their sections), datasets and collections that the caller may see; v1 has such a list on web pages only.',
  permission: 'reader',
  query: tagsQuery,
  responses: { 200: s.Array(s.Object({ name: s.String(), count: count() })) },
  throws: [Unavailable],
  async handle({ query, caller }: Request<undefined, typeof tagsQuery, undefined>, { suggesting }) {
    const tags = await suggesting.tags(query.prefix, query.limit, caller, query.kind)
    return { status: 200, body: tags.map(({ tag, count }) => ({ name: tag, count })) }
  },
})

const filterQuery = s.Object({ filter: s.String({ default: '', maxLength: 200 }) })
export const autocompleteMetadataNames = route({
  method: 'GET',
  path: '/api/metadata/autocompletenames',
  summary: 'Names of metadata fields, as queries write them: those that are defined and those in use',
  permission: 'reader',
  query: filterQuery,
  responses: { 200: s.Array(s.String()) },
  throws: [Unavailable],
  async handle({ query, caller }: Request<undefined, typeof filterQuery, undefined>, { suggesting }) {
    return { status: 200, body: [...(await suggesting.metadataNames(query.filter, 1000, caller))] }
  },
})
