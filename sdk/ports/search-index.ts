import type { Kind } from '../model/kind.ts'
import { port } from '../port.ts'
import type { Regex } from '../search/regex.ts'
import type { SearchScope } from './policy.ts'

/** A typed metadata value and its path: `{field: 'metadata.pounce_image.width', value: 640}`. */
export interface MetadataValue {
  /** Dotted path as written in queries, without the prefix `metadata.`. Case-preserving. */
  readonly field: string
  /** Numeric text is stored as a number, an ISO date as a `Date`; everything else as text. */
  readonly value: string | number | boolean | Date
  /** The text of a number or date, if it has other words than the value: `01234`, `2021-04-19`. Found like any text, but not by its field. */
  readonly written?: string
}

/** The index entry of one resource. */
export interface SearchDocument {
  readonly id: string
  readonly kind: Kind
  /** Revision of the record; an older one than in the index is ignored, an equal one replaces it. */
  readonly revision: number
  readonly name: string
  readonly description: string
  /** Account id, name and email of the author. */
  readonly creator: string
  readonly creatorName: string
  readonly creatorEmail: string
  /** The original file name. */
  readonly createdAs?: string
  readonly created: Date
  readonly contentType?: string
  readonly tags: readonly string[]
  readonly comments: readonly string[]
  readonly metadata: readonly MetadataValue[]
  /** Long text, such as that of a PDF; searched but never returned. At most 100,000 characters. */
  readonly text?: string
  /** Its containers: datasets, folders, collections, spaces (`in:<id>`). */
  readonly childOf: readonly string[]
  /**
   * Rights as filtered by the policy: the spaces whose roles apply and, for a file, the authors of its datasets, who may view it in any space. No account ids
   * besides these and the author's.
   */
  readonly spaces: readonly string[]
  readonly isPublic: boolean
  /** False for entries that must not be found now (trash, import in progress): excluded from all results and counts, but may return at the same revision. */
  readonly isListed: boolean
}

/** A change to one entry. `remove` needs no revision: removed ids are never reused. */
export type IndexChange = { readonly put: SearchDocument } | { readonly remove: string }

/**
 * A query; user input only occurs as values. `pounce/sdk/search` defines how text is split into words and what a value can mean (`wordsOf`, `patternsOf`,
 * `readingOf`), for documents and queries in every engine.
 *
 * Fields: `name description creator email tag created created_as resource_type content_type comment in`. All other names, and those starting with `metadata.`,
 * are metadata paths (case-sensitive), either complete or the end of a longer one (`width` matches `pounce_image.width`). The query language also has
 * `contains:<id>`, which callers must replace by the `ids` of the containers. If a field has several values, any of them may match.
 */
export type SearchQuery =
  | { readonly op: 'all' }
  /**
   * The term, or a word beginning with it, in any text (name, description, tags, comments, original name, metadata, text). Multiple words must be adjacent in
   * one value; the last may be a prefix. With `*` and `?` (any characters, one character) each pattern must match a whole word, anywhere.
   */
  | { readonly op: 'word'; readonly text: string }
  /** These whole words in this order, in one value of the field or of any text. */
  | { readonly op: 'phrase'; readonly text: string; readonly field?: string }
  /** The expression matches a whole word of the field or of any text. */
  | { readonly op: 'regex'; readonly regex: Regex; readonly field?: string }
  | {
      readonly op: 'field'
      readonly field: string
      /**
       * `contains`: each word is a prefix of a word of the field and each pattern matches one, in any order; values that parse as numbers or dates
       * (`readingOf`) must equal a number or date of the field, and non-text values must be equal. `*` alone: the field exists. `resource_type` is matched by
       * prefix; `in` is an id and must be equal. `equals`: the whole value, ignoring case. `differs`: the field exists and none of its values equals any of
       * these. The others compare numbers with numbers, dates with dates, and everything else with texts by code point.
       */
      readonly is: 'contains' | 'equals' | 'differs' | 'less' | 'atMost' | 'more' | 'atLeast'
      /**
       * Alternatives, any of which may match. A day is its whole span (`created` also accepts months and years): `more` is after its end, `atMost` before it.
       */
      readonly values: readonly (string | number | Date)[]
    }
  /** The field has a value other than empty text; for metadata, values below the path are included (`exists:site` for `site.lat`). */
  | { readonly op: 'exists'; readonly field: string }
  | { readonly op: 'missing'; readonly field: string }
  /** The documents with these ids, at most 1,000; an empty list matches none. */
  | { readonly op: 'ids'; readonly ids: readonly string[] }
  /** The documents within a scope. Not part of the query language: it limits parts of a query to where the caller may view what they search. */
  | { readonly op: 'visible'; readonly scope: SearchScope }
  | { readonly op: 'and'; readonly all: readonly SearchQuery[] }
  | { readonly op: 'or'; readonly any: readonly SearchQuery[] }
  | { readonly op: 'not'; readonly not: SearchQuery }

/** A search: query, scope, order and page. */
export interface SearchRequest {
  readonly query: SearchQuery
  readonly scope: SearchScope
  readonly kinds?: readonly Kind[]
  /**
   * `score`: best match first. A match in the name counts more than one in a tag, then in the description, a comment, other text; a whole word more than the
   * beginning of one. Other documents do not matter: how many contain a word would disclose hidden ones. A field: its smallest value if ascending, its largest if descending, dates in ms; documents without a value come last. Ties are
   * sorted newest first. Only `created` and metadata fields that some document within the scope has as a number or date are allowed, otherwise `Invalid`,
   * unless there are no hits.
   */
  readonly sort?: { readonly by: 'score' | string; readonly order: 'ascending' | 'descending' }
  /** 0-based position of the first hit, at most 10,000. */
  readonly from: number
  /** 0 to 1,000. */
  readonly size: number
}

/** A page of search hits. */
export interface SearchHits {
  readonly hits: readonly { readonly id: string; readonly kind: Kind }[]
  /** Total number of hits, exact up to 10,000 and `10000` beyond. */
  readonly total: number
  /** True if there were too many candidates to rank, so hits are sorted newest first. */
  readonly isNewestFirst: boolean
}

/** A search for resources by word prefixes in their names. */
export interface NameRequest {
  /** Each word is a prefix of a word in the name, in any order; a single character must be a whole word. Without words nothing is found. */
  readonly text: string
  readonly scope: SearchScope
  readonly kinds: readonly Kind[]
  /** 1 to 100, per kind. */
  readonly limit: number
}

/** Properties by which hits can be counted. */
export const facetNames = ['type', 'mediaType', 'tag', 'space', 'creator', 'year'] as const
/** A facet of `facetNames`. */
export type FacetName = (typeof facetNames)[number]

/** A search whose hits are to be counted. */
export interface FacetRequest extends Pick<SearchRequest, 'query' | 'scope' | 'kinds'> {
  readonly facets: readonly FacetName[]
  /** Maximum number of values per facet, 1 to 1,000. */
  readonly limit: number
}

/** Hit counts by value. */
export interface FacetCounts {
  /**
   * For each requested facet, values with their number of hits, most frequent first, then by code point. `type`: kinds; `mediaType`: normalized by `foldValue`;
   * `tag`: as written; `space`: all of `SearchDocument.spaces`; `creator`: account ids; `year`: of creation, UTC.
   */
  readonly counts: Readonly<Partial<Record<FacetName, readonly { readonly value: string; readonly count: number }[]>>>
  /** False if there are more than 10,000 hits: only that many were counted, to bound the cost. */
  readonly isExact: boolean
}

/** A metadata field and the number of documents that have it. */
export interface FieldCount {
  readonly field: string
  /** Number of documents within the scope, exact up to 10,000. */
  readonly count: number
}

/** A value of a metadata field and the number of documents that have it. */
export interface ValueCount {
  readonly value: string | number | Date
  /** Number of documents within the scope, exact up to 10,000. */
  readonly count: number
}

/**
 * A search index: a cache of the document store that can be rebuilt at any time. Returns only ids; the caller re-reads the records and checks permissions.
 * While the index is unavailable, calls reject with `Unavailable` within 2 s.
 */
export interface SearchIndex {
  /** Idempotent by id and revision. Durable and visible to searches when it resolves. At most 1,000 changes. */
  apply(changes: readonly IndexChange[]): Promise<void>
  search(request: SearchRequest): Promise<SearchHits>
  /** Counts the hits of a search by property. */
  facets(request: FacetRequest): Promise<FacetCounts>
  /** The newest resources of each kind that match by name alone, for suggestions while typing; not slower in a large index. */
  names(request: NameRequest): Promise<SearchHits['hits']>
  /**
   * Metadata paths that start with the prefix, or have a part that does, ignoring case, with the number of documents within the scope; most frequent first,
   * then by code point.
   */
  fields(prefix: string, scope: SearchScope, limit: number): Promise<readonly FieldCount[]>
  /**
   * Values of a metadata field (whole path or its end) that start with the prefix, ignoring case, with the number of documents within the scope; most frequent
   * first, then by code point. Texts that differ only in case are one value, in one of the spellings; long ones are truncated.
   */
  values(field: string, prefix: string, scope: SearchScope, limit: number): Promise<readonly ValueCount[]>
  /** Tags that start with the prefix (empty: all) within the scope, most frequent first, at most 10,000; with `kind` only of resources of that kind. */
  tags(prefix: string, scope: SearchScope, limit: number, kind?: Kind): Promise<readonly { readonly tag: string; readonly count: number }[]>
  /**
   * Builds a second index from all documents while the first one stays in use, then swaps them. `apply` during a rebuild updates both. A failed or aborted
   * rebuild leaves the first unchanged. Reports the number of documents so far.
   */
  rebuild(
    documents: AsyncIterable<SearchDocument>,
    options?: { readonly signal?: AbortSignal; progress?(count: number): void },
  ): Promise<{ readonly count: number }>
  /** True if the index was missing, damaged or of an older format at startup, and is unusable until rebuilt. */
  needsRebuild?(): Promise<boolean>
  /** Changes whenever the index is created, emptied or rebuilt. If it differs from that of the last rebuild, another index was in use meanwhile. */
  identity?(): Promise<string>
  /** Deletes all entries. */
  clear(): Promise<void>
  readonly engine: string
  /** True if several kernels write to the same index: of two puts with equal revision, the one read earlier may then be applied last. */
  readonly isShared: boolean
}
export const SearchIndex = port<SearchIndex>('searchIndex')
