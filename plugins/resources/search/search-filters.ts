import type { SearchQuery } from 'pounce/sdk/search'
import { checkQuery, compareField, comparingOf, fieldContains, readQuery } from 'pounce/sdk/search/language'

/** The filter parameters of a search. */
export interface SearchFilters {
  readonly query: string
  readonly field?: string
  readonly tag?: string
  readonly created?: string
  readonly datasetid?: string
  readonly collectionid?: string
  readonly spaceid?: string
  readonly folderid?: string
}

/** The query for all parameters. Only `query` is parsed as the query language; the others are literal values. */
export function queryOfFilters(filters: SearchFilters): SearchQuery {
  const all = [main(filters), ...filtersOf(filters)].filter(part => part.op !== 'all')
  if (all.length === 0) return { op: 'all' }
  return checkQuery(all.length === 1 ? (all[0] as SearchQuery) : { op: 'and', all })
}

function main({ query, field }: SearchFilters): SearchQuery {
  if (field === undefined || field.trim() === '') return readQuery(query)
  return query.trim() === '' ? { op: 'exists', field } : fieldContains(field, query)
}

function filtersOf({ tag, created, datasetid, collectionid, spaceid, folderid }: SearchFilters): readonly SearchQuery[] {
  const places = [datasetid, collectionid, spaceid, folderid].filter(id => id !== undefined && id !== '')
  return [
    ...(tag === undefined || tag.trim() === '' ? [] : [fieldContains('tag', tag)]),
    ...(created === undefined || created.trim() === '' ? [] : [createdIs(created)]),
    ...places.map((id): SearchQuery => ({ op: 'field', field: 'in', is: 'equals', values: [id ?? ''] })),
  ]
}

/** `2021-04-19`, optionally preceded by an operator. */
function createdIs(text: string): SearchQuery {
  const trimmed = text.trim()
  const [operator = ''] = /^(?:==|!=|<=|>=|<|>|=|:)/.exec(trimmed) ?? []
  return compareField('created', comparingOf(operator || ':') ?? 'contains', [trimmed.slice(operator.length).trim()])
}
