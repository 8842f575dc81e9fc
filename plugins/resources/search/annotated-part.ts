import type { SearchQuery, SearchScope } from 'pounce/sdk/search'

/** What is found together with the resource that it belongs to, but may be hidden from those who may view the resource. */
type Annotation = 'metadata' | 'comments' | 'sections'

const annotations: readonly Annotation[] = ['metadata', 'comments', 'sections']

/** Where the caller may view these annotations of a resource that the caller may view; undefined: everywhere. */
const shownPart = (scope: SearchScope, annotation: Annotation): Extract<SearchScope, { all: false }> | undefined => {
  const spaces = scope.all ? undefined : scope.annotated?.[annotation]
  if (scope.all || !spaces) return undefined
  const { annotated: _, inPart: __, ...rest } = scope
  return { ...rest, spaces }
}

/**
 * The part of a scope in which the caller may also view these annotations. Without resources that one space lets the caller view and another one its
 * annotations: a scope cannot express that.
 */
export const annotatedPart = (scope: SearchScope, annotation: Annotation): SearchScope => {
  const shown = shownPart(scope, annotation)
  if (scope.all || !shown) return scope
  const among = new Set(shown.spaces)
  const common = (spaces: readonly string[]): readonly string[] => spaces.filter(id => among.has(id))
  const inPart = scope.inPart?.map(({ kinds, spaces }) => ({ kinds, spaces: common(spaces) }))
  return { ...shown, spaces: common(scope.spaces), ...(inPart && { inPart }) }
}

/** The query limited to what the caller may view: it searches the annotations of a resource only where these are visible. */
export const withinRights = (query: SearchQuery, scope: SearchScope): SearchQuery => {
  const decided = ([next, ...others]: readonly Annotation[], hidden: readonly Annotation[]): SearchQuery => {
    if (next === undefined) return without(hidden, query)
    const shown = shownPart(scope, next)
    if (!shown) return decided(others, hidden)
    const visible: SearchQuery = { op: 'visible', scope: shown }
    const whereVisible: SearchQuery = { op: 'and', all: [visible, decided(others, hidden)] }
    const elsewhere: SearchQuery = { op: 'and', all: [{ op: 'not', not: visible }, decided(others, [...hidden, next])] }
    return { op: 'or', any: [whereVisible, elsewhere] }
  }
  return decided(annotations, [])
}

const nothing: SearchQuery = { op: 'ids', ids: [] }
const isFile: SearchQuery = { op: 'field', field: 'resource_type', is: 'equals', values: ['file'] }

/** Fields searched for words that are not about a field. Indexes cannot limit these to metadata, which is searched only if nothing is hidden. */
const texts = ['name', 'description', 'created_as', 'tag', 'comment']
const own: ReadonlySet<string> = new Set([
  ...['name', 'description', 'created_as', 'creator', 'email'],
  ...['created', 'resource_type', 'content_type', 'in'],
])

/** What a query finds in a resource apart from hidden annotations. */
const without = (hidden: readonly Annotation[], query: SearchQuery): SearchQuery => {
  if (hidden.length === 0) return query
  switch (query.op) {
    case 'and':
      return { op: 'and', all: query.all.map(part => without(hidden, part)) }
    case 'or':
      return { op: 'or', any: query.any.map(part => without(hidden, part)) }
    case 'not':
      return { op: 'not', not: without(hidden, query.not) }
    case 'missing':
      return { op: 'not', not: ofField(hidden, query.field, { op: 'exists', field: query.field }) }
    case 'word':
      return inTexts(hidden, field => ({ op: 'field', field, is: 'contains', values: [query.text] }))
    case 'phrase':
    case 'regex':
      return query.field === undefined ? inTexts(hidden, field => ({ ...query, field })) : ofField(hidden, query.field, query)
    case 'field':
    case 'exists':
      return ofField(hidden, query.field, query)
    default:
      return query
  }
}

const inTexts = (hidden: readonly Annotation[], query: (field: string) => SearchQuery): SearchQuery => ({
  op: 'or',
  any: texts.map(field => ofField(hidden, field, query(field))),
})

/** The tags of a file may be those of its sections. */
const ofField = (hidden: readonly Annotation[], field: string, query: SearchQuery): SearchQuery => {
  if (own.has(field)) return query
  if (field === 'tag') return hidden.includes('sections') ? { op: 'and', all: [{ op: 'not', not: isFile }, query] } : query
  return hidden.includes(field === 'comment' ? 'comments' : 'metadata') ? nothing : query
}
