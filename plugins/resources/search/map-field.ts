import type { SearchQuery } from 'pounce/sdk/search'

/** A condition on one field. */
export type FieldCondition = Extract<SearchQuery, { readonly field?: string }>

/** The query with each condition on the field, or on fields whose names match the pattern, replaced. */
export const mapField = (query: SearchQuery, field: string | RegExp, replace: (condition: FieldCondition) => SearchQuery): SearchQuery => {
  switch (query.op) {
    case 'and':
      return { ...query, all: query.all.map(part => mapField(part, field, replace)) }
    case 'or':
      return { ...query, any: query.any.map(part => mapField(part, field, replace)) }
    case 'not':
      return { ...query, not: mapField(query.not, field, replace) }
    default:
      return 'field' in query && query.field !== undefined && isNamed(query.field, field) ? replace(query) : query
  }
}

const isNamed = (name: string, field: string | RegExp): boolean => (typeof field === 'string' ? name === field : field.test(name))
