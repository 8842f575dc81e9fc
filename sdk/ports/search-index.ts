import type { Kind } from '../model/kind.ts'
import { port } from '../port.ts'
import type { Regex } from '../search/regex.ts'
import type { SearchScope } from './policy.ts'

/** One typed value of metadata, under its path: `{field: 'metadata.pounce-image.width', value: 640}`. */
export interface MetadataValue {
  /** Dotted path as people write it in a query, without the `metadata.` in front. Case kept. */
  readonly field: string
  /** Text that reads as a number is a number here, an ISO date is a `Date`; everything else is text. */
  readonly value: string | number | boolean | Date
}

/** The index entry of one resource. */
export interface SearchDocument {
  readonly id: string
  readonly kind: Kind
  /** Revision of what was read; an older one than the index holds is ignored, an equal one replaces it. */
  readonly revision: number
  readonly name: string
  readonly description: string
  /** Account id, name and e-mail of the author. */
  readonly creator: string
  readonly creatorName: string
  readonly creatorEmail: string
  /** The name it was uploaded under. */
  readonly createdAs?: string
  readonly created: Date
  readonly contentType?: string
  readonly tags: readonly string[]
  readonly comments: readonly string[]
  readonly metadata: readonly MetadataValue[]
  /** Long text such as a PDF's, searched with the rest and never returned. At most 100,000 characters. */
  readonly text?: string
  /** What it is in: datasets, folders, collections, spaces (`in:<id>`). */
  readonly childOf: readonly string[]
  /**
   * Rights, as the policy filters by them: the spaces whose roles count here and, for a file, the authors of its datasets, who see it wherever those lie.
   * No other account ids besides the author's.
   */
  readonly spaces: readonly string[]
  readonly isPublic: boolean
  /** False for what must not be found now (trash, an import under way): kept out of every answer and count, yet may come back at the same revision. */
  readonly isListed: boolean
}

/** What to do with one entry. `remove` needs no revision: a removed id never comes back. */
export type IndexChange = { readonly put: SearchDocument } | { readonly remove: string }

/**
 * A query as data; user text is only ever a value in it. How text becomes words, and what a value can mean, is said by `pounce/sdk/search`
 * (`wordsOf`, `patternsOf`, `readingOf`), for documents and queries and for every engine alike.
 *
 * Fields: `name description creator email tag created created_as resource_type content_type comment in`. Any other name, and any that
 * begins with `metadata.`, is a metadata path, case kept: whole, or the end of a longer one (`width` finds `pounce-image.width`).
 * The language has `contains` too (`contains:<id>`); no index evaluates it: callers replace it by the `ids` of what contains the resource.
 * A field may have several values; one that fits is enough.
 */
export type SearchQuery =
  | { readonly op: 'all' }
  /**
   * In any text (name, description, tags, comments, original name, metadata, text): the term or the beginning of one. Several words are next
   * to each other in one value, the last of them may continue. With `*` and `?` (any run, any one character) each fits a whole word, anywhere.
   */
  | { readonly op: 'word'; readonly text: string }
  /** These whole words in this order, in one value of the field, or of any text. */
  | { readonly op: 'phrase'; readonly text: string; readonly field?: string }
  /** A word that the expression fits as a whole, in the field or in any text. */
  | { readonly op: 'regex'; readonly regex: Regex; readonly field?: string }
  | {
      readonly op: 'field'
      readonly field: string
      /**
       * `contains`: each word of it begins a word of the field, each pattern fits one, in any order; but what reads as a number or a date (`readingOf`)
       * equals the numbers or dates of the field, and a value that is no text equals. `*` alone: the field is there. `resource_type` by
       * its beginning; `in` is an id and equal. `equals`: the whole value, case ignored. `differs`: the field is there, and none of
       * its values equals any of these. The others compare numbers with numbers, dates with dates, and what reads as neither with texts by code point.
       */
      readonly is: 'contains' | 'equals' | 'differs' | 'less' | 'atMost' | 'more' | 'atLeast'
      /** Alternatives: any of them fits. A day is its whole span (`created` takes months and years too): more is after its end, atMost before it. */
      readonly values: readonly (string | number | Date)[]
    }
  /** The field has a value, not an empty text; of metadata, also what stands below it does (`exists:site` for `site.lat`). */
  | { readonly op: 'exists'; readonly field: string }
  | { readonly op: 'missing'; readonly field: string }
  /** The documents of these ids, at most 1,000; none of an empty list. */
  | { readonly op: 'ids'; readonly ids: readonly string[] }
  | { readonly op: 'and'; readonly all: readonly SearchQuery[] }
  | { readonly op: 'or'; readonly any: readonly SearchQuery[] }
  | { readonly op: 'not'; readonly not: SearchQuery }

/** A search: its query, scope, order and page. */
export interface SearchRequest {
  readonly query: SearchQuery
  readonly scope: SearchScope
  readonly kinds?: readonly Kind[]
  /**
   * `score` puts the best first; a field puts documents without it last, by its smallest value when ascending and its largest when descending,
   * dates as ms. Equals come newest first. Only `created` and numeric or date metadata: else `Invalid`.
   */
  readonly sort?: { readonly by: 'score' | string; readonly order: 'ascending' | 'descending' }
  /** 0-based position of the first hit wanted, at most 10,000. */
  readonly from: number
  /** 0 to 1,000. */
  readonly size: number
}

/** A page of what a search found. */
export interface SearchHits {
  readonly hits: readonly { readonly id: string; readonly kind: Kind }[]
  /** Hits there are in all, exact up to 10,000, `10000` beyond. */
  readonly total: number
  /** True when there were too many candidates to rank, so the newest come first. */
  readonly isNewestFirst: boolean
}

/** A question for resources by the beginnings of words of their names. */
export interface NameRequest {
  /** Each word of it begins a word of the name, in any order; one of a single character is a whole word. Without a word nothing is found. */
  readonly text: string
  readonly scope: SearchScope
  readonly kinds: readonly Kind[]
  /** 1 to 100, of each kind. */
  readonly limit: number
}

/** What hits can be counted by. */
export const facetNames = ['type', 'mediaType', 'tag', 'space', 'creator', 'year'] as const
/** A facet of `facetNames`. */
export type FacetName = (typeof facetNames)[number]

/** A search whose hits are counted. */
export interface FacetRequest extends Pick<SearchRequest, 'query' | 'scope' | 'kinds'> {
  readonly facets: readonly FacetName[]
  /** Values of each facet, 1 to 1,000. */
  readonly limit: number
}

/** How many hits have which values. */
export interface FacetCounts {
  /**
   * The requested facets: values with the number of hits that have them, most used first, then by code point. `type`: kinds; `mediaType`: as `foldValue`
   * writes it; `tag`: as written; `space`: all of `SearchDocument.spaces`; `creator`: account ids; `year`: of creation, UTC.
   */
  readonly counts: Readonly<Partial<Record<FacetName, readonly { readonly value: string; readonly count: number }[]>>>
  /** False when there are more than 10,000 hits: then so many of them were counted, which bounds the cost. */
  readonly isExact: boolean
}

/** A metadata field, and in how many documents it occurs. */
export interface FieldCount {
  readonly field: string
  /** Documents within the scope that have it, exact up to 10,000. */
  readonly count: number
}

/** A value of a metadata field, and in how many documents it occurs. */
export interface ValueCount {
  readonly value: string | number | Date
  /** Documents within the scope that have it, exact up to 10,000. */
  readonly count: number
}

/**
 * The index is a cache of the store, rebuilt at will. Answers only ids; the caller re-reads and re-checks them.
 * Away: `Unavailable` within 2 s.
 */
export interface SearchIndex {
  /** Idempotent by id and revision. Durable and visible to searches when it resolves. At most 1,000 changes. */
  apply(changes: readonly IndexChange[]): Promise<void>
  search(request: SearchRequest): Promise<SearchHits>
  /** Counts the hits of a search by their properties. */
  facets(request: FacetRequest): Promise<FacetCounts>
  /** The newest resources of each kind by their names alone, for suggestions while someone types: takes no longer in a large index. */
  names(request: NameRequest): Promise<SearchHits['hits']>
  /** Metadata paths that begin with the text or have a part that does, case ignored, with the number of documents within the scope; most used first, then by code point. */
  fields(prefix: string, scope: SearchScope, limit: number): Promise<readonly FieldCount[]>
  /**
   * Values of a metadata field (whole path or its end) that begin with the text, case ignored, with the number of documents within the scope;
   * most used first, then in order of code points. Texts that differ in case only are one value, written as one of them; long ones are cut.
   */
  values(field: string, prefix: string, scope: SearchScope, limit: number): Promise<readonly ValueCount[]>
  /** Tags that begin with the text (empty: all), most used first, at most 10,000, within the scope; with `kind` of resources of that kind alone. */
  tags(prefix: string, scope: SearchScope, limit: number, kind?: Kind): Promise<readonly { readonly tag: string; readonly count: number }[]>
  /**
   * Builds a second index from all documents while the first one serves, then swaps. `apply` during a rebuild reaches both.
   * A rebuild that fails or is aborted leaves the first as it was. Progress is the number of documents so far.
   */
  rebuild(
    documents: AsyncIterable<SearchDocument>,
    options?: { readonly signal?: AbortSignal; progress?(count: number): void },
  ): Promise<{ readonly count: number }>
  /** True when the index was found missing, damaged or of an older form at start, and serves nothing useful until it is rebuilt. */
  needsRebuild?(): Promise<boolean>
  /** Empties the index. */
  clear(): Promise<void>
  readonly engine: string
  /** True when several kernels write to the same index: of two puts with the same revision, the one read earlier may then come last. */
  readonly isShared: boolean
}
export const SearchIndex = port<SearchIndex>('searchIndex')
