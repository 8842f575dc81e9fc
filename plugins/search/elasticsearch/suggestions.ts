import type { Kind } from 'pounce/sdk'
import type { FieldCount, NameRequest, SearchHits, SearchScope, ValueCount } from 'pounce/sdk/search'
import { comparableText, typedValue, wordsOf } from 'pounce/sdk/search'
import { prefix as beginning, type Clause, term, terms } from './clause.ts'
import { metadataPath, pathKey } from './field-keys.ts'
import { permittedBy } from './rights.ts'
import { newestFirst } from './run-search.ts'

interface Bucket {
  readonly key: string
  readonly doc_count: number
  readonly written?: { readonly hits: { readonly hits: readonly { readonly fields?: { readonly written?: readonly string[] } }[] } }
}

export interface CountAnswer {
  readonly aggregations: { readonly found: { readonly buckets: readonly Bucket[] } }
}

/** Queries the server for counts. */
export type QueryCounts = (body: Readonly<Record<string, unknown>>) => Promise<CountAnswer>

const maxCounted = 10_000

/** Tags with this prefix, most used first. */
export async function suggestTags(
  prefix: string,
  scope: SearchScope,
  { limit, kind }: { readonly limit: number; readonly kind: Kind | undefined },
  send: QueryCounts,
): Promise<readonly { readonly tag: string; readonly count: number }[]> {
  const condition = kind === undefined ? {} : { condition: term('kind', kind) }
  const buckets = await count({ field: 'tagList', include: `${anyCase(prefix)}.*`, scope, limit, ...condition }, send)
  return buckets.map(({ key, doc_count: count }) => ({ tag: key, count }))
}

/** Metadata paths of which the whole or a part has this prefix. */
export async function suggestFields(prefix: string, scope: SearchScope, limit: number, send: QueryCounts): Promise<readonly FieldCount[]> {
  const buckets = await count({ field: 'fieldList', include: `(.*\\.)?${anyCase(prefix)}.*`, scope, limit }, send)
  return buckets.map(({ key, doc_count: count }) => ({ field: key, count }))
}

/** Values of a metadata field with this prefix. */
export async function suggestValues(
  { field, prefix, scope, limit }: { readonly field: string; readonly prefix: string; readonly scope: SearchScope; readonly limit: number },
  send: QueryCounts,
): Promise<readonly ValueCount[]> {
  const key = pathKey(metadataPath(field))
  const include = `${key}${escaped(comparableText(prefix))}.*`
  const buckets = await count({ field: 'valueList', include, scope, limit, condition: term('has', key) }, send)
  return buckets.map(bucket => ({ value: readValue(bucket, key), count: bucket.doc_count }))
}

function readValue({ key: found, written }: Bucket, key: string): string | number | Date {
  const text = found.slice(key.length)
  const candidates = written?.hits.hits[0]?.fields?.written ?? []
  return typedValue(candidates.find(candidate => comparableText(candidate) === text) ?? text)
}

interface CountRequest {
  readonly field: string
  /** A regular expression that matches the whole term. */
  readonly include: string
  readonly scope: SearchScope
  readonly limit: number
  readonly condition?: Clause
}

async function count({ field, include, scope, limit, condition }: CountRequest, send: QueryCounts): Promise<readonly Bucket[]> {
  const permitted = permittedBy(scope)
  const size = Math.min(Math.trunc(limit), maxCounted)
  if (permitted === undefined || !(size > 0)) return []
  const query = { bool: { filter: [permitted, ...(condition ? [condition] : [])] } }
  const order = [{ _count: 'desc' }, { _key: 'asc' }]
  const written = { top_hits: { size: 1, _source: false, docvalue_fields: ['written'] } }
  const found = {
    terms: { field, include, size, order, execution_hint: 'map' },
    ...(field === 'valueList' ? { aggs: { written } } : {}),
  }
  return (await send({ query, size: 0, track_total_hits: false, aggs: { found } })).aggregations.found.buckets
}

export interface NamesAnswer {
  readonly aggregations: {
    readonly kinds: {
      readonly buckets: readonly {
        readonly key: string
        readonly newest: { readonly hits: { readonly hits: readonly { readonly _id: string }[] } }
      }[]
    }
  }
}

/** The newest of each kind, by prefixes of the words of their names. */
export async function findNames(
  { text, scope, kinds, limit }: NameRequest,
  send: (body: Readonly<Record<string, unknown>>) => Promise<NamesAnswer>,
): Promise<SearchHits['hits']> {
  const permitted = permittedBy(scope)
  const words = wordsOf(text)
  if (permitted === undefined || words.length === 0 || kinds.length === 0 || limit === 0) return []
  const named = words.map(word => ([...word].length === 1 ? term('name', word) : beginning('name', word)))
  const newest = { top_hits: { size: limit, sort: newestFirst, _source: false } }
  const answer = await send({
    query: { bool: { filter: [permitted, terms('kind', kinds), ...named] } },
    size: 0,
    track_total_hits: false,
    aggs: { kinds: { terms: { field: 'kind', size: kinds.length }, aggs: { newest } } },
  })
  const found = new Map(answer.aggregations.kinds.buckets.map(bucket => [bucket.key, bucket.newest.hits.hits]))
  return kinds.flatMap(kind => (found.get(kind) ?? []).map(({ _id: id }) => ({ id, kind })))
}

const escaped = (text: string): string => text.toWellFormed().replace(/[^\p{L}\p{N}]/gu, '\\$&')

/** A regular expression for the text that ignores case. */
const anyCase = (text: string): string =>
  [...text.toWellFormed()]
    .map(letter => {
      const forms = [...new Set([letter, letter.toLowerCase(), letter.toUpperCase()])].filter(form => [...form].length === 1)
      return forms.length === 1 ? escaped(letter) : `[${forms.map(escaped).join('')}]`
    })
    .join('')
