/** Incremented when the mapping or the entries change: indexes of another format are not used, and are rebuilt. */
export const indexFormat = 4

const words = { type: 'text', analyzer: 'whitespace' } as const
const tokens = { type: 'keyword', doc_values: false, norms: false } as const

/** Elasticsearch rejects terms of more than 32,766 bytes; a UTF-16 unit takes at most three. */
export const maxTermLength = 10_000
/** Beginnings up to this length are terms of their own. */
export const indexedPrefixChars = 2

/** Values with numbers and dates are nested documents, so that a comparison is tied to its field. */
const mapping = {
  dynamic: false,
  _source: { enabled: false },
  properties: {
    key: { type: 'keyword' },
    kind: { type: 'keyword' },
    isListed: { type: 'boolean' },
    created: { type: 'long' },
    author: { type: 'keyword' },
    isPublic: { type: 'boolean' },
    spaces: { type: 'keyword' },
    year: { type: 'keyword', index: false },
    mediaType: { type: 'keyword', index: false },
    within: tokens,
    tagList: { type: 'keyword' },
    fieldList: { type: 'keyword' },
    valueList: { type: 'keyword' },
    written: { type: 'keyword', index: false },
    has: tokens,
    is: tokens,
    word: words,
    any: { ...words, index_prefixes: { min_chars: 1, max_chars: indexedPrefixChars } },
    name: words,
    tags: words,
    description: words,
    created_as: words,
    comments: words,
    values: { type: 'nested', properties: { field: tokens, number: { type: 'double' } } },
  },
} as const

/** Changes are made visible as they are written; this is for those whose writer was interrupted. */
export const refreshInterval = '1s'

/** Indexes of older formats with the number of writes that each has received. */
export type OlderIndexes = Readonly<Record<string, number>>

/** The metadata of an index. `older`: when the rebuild that filled it began. */
export const metaOf = (isComplete: boolean, older: OlderIndexes = {}) => ({ form: indexFormat, isComplete, older })

/** The definition of a new index. A complete one contains everything that a rebuild would add. */
export const indexSettings = ({ isComplete, shards }: { readonly isComplete: boolean; readonly shards: number }) => ({
  settings: {
    number_of_shards: shards,
    auto_expand_replicas: '0-1',
    refresh_interval: refreshInterval,
    max_result_window: 11_000,
    max_regex_length: 20_000,
    max_terms_count: 65_536,
    'mapping.nested_objects.limit': 10_000,
  },
  mappings: { ...mapping, _meta: metaOf(isComplete) },
})
