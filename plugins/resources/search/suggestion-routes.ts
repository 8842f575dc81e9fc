import { Invalid, type Request, routesFor, s, Unavailable } from 'pounce/sdk'
import { QuickSearch } from './quick-search.ts'
import { SuggestionService } from './suggestion-service.ts'

const route = routesFor('search', { suggesting: SuggestionService, quick: QuickSearch })

const prefix = () => s.String({ default: '', maxLength: 200, description: 'Prefix, ignoring case' })
const limit = (normally: number, maximum: number) => s.Integer({ default: normally, minimum: 1, maximum })
const count = () => s.Integer({ description: 'Number of resources with it that the caller may view; exact up to 10,000' })

const fieldsQuery = s.Object({ prefix: prefix(), limit: limit(20, 1000) })
export const suggestFields = route({
  method: 'GET',
  path: '/api/search/fields',
  summary: 'List searchable metadata fields, most used first',
  description: 'A field matches if its path, or a part of it, begins with the prefix.',
  permission: 'reader',
  cost: 'search',
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
  summary: 'List values of a metadata field or tags, most used first',
  description: 'The field is a full path or its end; `tag` returns tags. Texts that differ only in case are one value.',
  permission: 'reader',
  cost: 'search',
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
      description: 'Only tags and counts of this kind of resource',
    }),
  ),
})
export const listTags = route({
  method: 'GET',
  path: '/api/tags',
  summary: 'List tags, most used first',
  description: 'Of files (with their sections), datasets and collections that the caller may view; v1 has such a list on web pages only.',
  permission: 'reader',
  cost: 'search',
  query: tagsQuery,
  responses: { 200: s.Array(s.model('Tag', s.Object({ name: s.String(), count: count() }))) },
  throws: [Unavailable],
  async handle({ query, caller }: Request<undefined, typeof tagsQuery, undefined>, { suggesting }) {
    const tags = await suggesting.tags(query.prefix, query.limit, caller, query.kind)
    return { status: 200, body: tags.map(({ tag, count }) => ({ name: tag, count })) }
  },
})

const Named = s.model('NamedResource', s.Object({ id: s.String(), name: s.String() }))
const quickQuery = s.Object({ prefix: s.String({ minLength: 1, maxLength: 200, description: 'Words, or beginnings of words, of a name' }) })
export const searchNames = route({
  method: 'GET',
  path: '/api/search/quick',
  summary: 'Search names of resources and people by prefix',
  description:
    'At most five of each kind that the caller may view, those whose names begin with the prefix first, then the newest. A single letter or digit matches whole words of names only. People are returned to signed-in callers only. Intended for suggestions while typing.',
  permission: 'reader',
  cost: 'search',
  query: quickQuery,
  responses: {
    200: s.model(
      'NamedResources',
      s.Object({
        spaces: s.Array(Named),
        collections: s.Array(Named),
        datasets: s.Array(Named),
        files: s.Array(Named),
        people: s.Array(Named),
      }),
    ),
  },
  throws: [Invalid, Unavailable],
  async handle({ query, caller }: Request<undefined, typeof quickQuery, undefined>, { quick }) {
    return { status: 200, body: await quick.find(query.prefix, caller) }
  },
})

const filterQuery = s.Object({ filter: s.String({ default: '', maxLength: 200 }) })
export const autocompleteMetadataNames = route({
  method: 'GET',
  path: '/api/metadata/autocompletenames',
  summary: 'Autocomplete names of metadata fields',
  description: 'Names of defined fields and of fields in use, as used in queries.',
  permission: 'reader',
  cost: 'search',
  query: filterQuery,
  responses: { 200: s.Array(s.String()) },
  throws: [Unavailable],
  async handle({ query, caller }: Request<undefined, typeof filterQuery, undefined>, { suggesting }) {
    return { status: 200, body: [...(await suggesting.metadataNames(query.filter, 1000, caller))] }
  },
})

const Operator = s.Union([
  ...([s.Literal(':'), s.Literal('=='), s.Literal('!='), s.Literal('<'), s.Literal('<=')] as const),
  ...([s.Literal('>'), s.Literal('>='), s.Literal('exists'), s.Literal('missing')] as const),
])

export const readConditions = route({
  method: 'GET',
  path: '/api/search/conditions',
  summary: 'Get the conditions of a query',
  description:
    'An addition to Clowder 1.x, for search forms. Nothing is searched. An invalid query gets 400 with `position`. `conditions` is null for a query that is not a plain list: one with parentheses, or with both AND and OR.',
  permission: 'reader',
  query: s.Object({ query: s.String({ maxLength: 10_000 }) }),
  responses: {
    200: s.model(
      'QueryConditions',
      s.Object({
        join: s.Union([s.Literal('and'), s.Literal('or')]),
        conditions: s.Union([
          s.Array(
            s.Object({
              not: s.Boolean(),
              field: s.Union([s.String(), s.Null()], { description: 'Null: anywhere' }),
              operator: Operator,
              values: s.Array(
                s.Object({ is: s.Union([s.Literal('words'), s.Literal('phrase'), s.Literal('expression')]), text: s.String() }),
                { description: 'Alternatives. Empty with `exists` and `missing`' },
              ),
            }),
          ),
          s.Null(),
        ]),
      }),
      {
        join: 'and',
        conditions: [{ not: false, field: 'depth', operator: '>', values: [{ is: 'words', text: '12' }] }],
      },
    ),
  },
  throws: [Invalid],
  async handle({ query }) {
    const { conditionsOf } = await import('pounce/sdk/search/language')
    const { join, conditions } = conditionsOf(query.query)
    const shown = conditions?.map(condition => ({ ...condition, values: condition.values.map(value => ({ ...value })) })) ?? null
    return { status: 200, body: { join, conditions: shown } }
  },
})
