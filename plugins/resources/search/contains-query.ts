import { Invalid } from 'pounce/sdk'
import type { SearchQuery } from 'pounce/sdk/search'
import { isAnything } from 'pounce/sdk/search'
import { checkQuery } from 'pounce/sdk/search/language'
import { type FieldCondition, mapField } from './map-field.ts'

/** Containers of resources, by resource id. */
export type Containers = ReadonlyMap<string, readonly string[]>

/** A comparison of `contains`: its value, and whether it is negated. */
interface Contents {
  readonly ids: readonly string[]
  readonly isNegated: boolean
}

/**
 * The values that the query compares `contains` with, each once; they may be invalid ids. Throws `Invalid` for comparisons that only
 * indexed fields support.
 */
export function contentsIn(query: SearchQuery): readonly string[] {
  const found = new Set<string>()
  mapContents(query, ({ ids }) => {
    for (const id of ids) found.add(id)
    return query
  })
  return [...found]
}

/** The query with each comparison of `contains` replaced by the ids of the containers. Throws `Invalid` when there are too many. */
export function withContainers(query: SearchQuery, containers: Containers): SearchQuery {
  const replaced = mapContents(query, ({ ids: things, isNegated }) => {
    const ids = [...new Set(things.flatMap(id => containers.get(id) ?? []))]
    return isNegated ? { op: 'and', all: [canContain, { op: 'not', not: { op: 'ids', ids } }] } : { op: 'ids', ids }
  })
  return checkQuery(replaced)
}

const canContain: SearchQuery = { op: 'field', field: 'resource_type', is: 'differs', values: ['file', 'sensor', 'stream'] }

const mapContents = (query: SearchQuery, replace: (contents: Contents) => SearchQuery): SearchQuery =>
  mapField(query, 'contains', condition => replace(contentsOf(condition)))

function contentsOf(query: FieldCondition): Contents {
  if (query.op === 'phrase') return { ids: [query.text.trim()], isNegated: false }
  const isComparable = query.op === 'field' && (query.is === 'contains' || query.is === 'equals' || query.is === 'differs')
  const ids = isComparable ? query.values.map(value => String(value).trim()) : []
  if (!isComparable || ids.some(isAnything)) throw new Invalid('contains must be the id of a resource: contains:5f1e7c0000a1b2c3d4e5f601')
  return { ids, isNegated: query.is === 'differs' }
}
