import type { SearchQuery, SearchScope } from 'pounce/sdk/search'

/** The part of a scope in which the caller may also view metadata, comments and sections. */
export const annotatedPart = (scope: SearchScope): SearchScope => {
  if (scope.all || scope.annotated === undefined) return scope
  const { annotated, inPart: _, ...rest } = scope
  return { ...rest, ...annotated }
}

/** The query limited to what the caller may view: where annotations are hidden, it searches the resources themselves only. */
export const withinRights = (query: SearchQuery, scope: SearchScope): SearchQuery =>
  scope.all || scope.annotated === undefined
    ? query
    : { op: 'or', any: [{ op: 'and', all: [{ op: 'visible', scope: annotatedPart(scope) }, query] }, withoutAnnotations(query)] }

const nothing: SearchQuery = { op: 'ids', ids: [] }
const isFile: SearchQuery = { op: 'field', field: 'resource_type', is: 'equals', values: ['file'] }

/** Fields searched for words that are not about a field. The others are searched only when named. */
const texts = ['name', 'description', 'created_as', 'tag']
const own: ReadonlySet<string> = new Set([...texts, 'creator', 'email', 'created', 'resource_type', 'content_type', 'in'])

/** What a query finds in a resource itself. The tags of a file may be those of its sections. */
const withoutAnnotations = (query: SearchQuery): SearchQuery => {
  switch (query.op) {
    case 'and':
      return { op: 'and', all: query.all.map(withoutAnnotations) }
    case 'or':
      return { op: 'or', any: query.any.map(withoutAnnotations) }
    case 'not':
      return { op: 'not', not: withoutAnnotations(query.not) }
    case 'missing':
      return { op: 'not', not: withoutAnnotations({ op: 'exists', field: query.field }) }
    case 'word':
      return inTexts(field => ({ op: 'field', field, is: 'contains', values: [query.text] }))
    case 'phrase':
    case 'regex':
      return query.field === undefined ? inTexts(field => ({ ...query, field })) : ofField(query.field, query)
    case 'field':
    case 'exists':
      return ofField(query.field, query)
    default:
      return query
  }
}

const inTexts = (query: (field: string) => SearchQuery): SearchQuery => ({
  op: 'or',
  any: texts.map(field => ofField(field, query(field))),
})

const ofField = (field: string, query: SearchQuery): SearchQuery => {
  if (field === 'tag') return { op: 'and', all: [{ op: 'not', not: isFile }, query] }
  return own.has(field) ? query : nothing
}
