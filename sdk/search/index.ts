/* `pounce/sdk/search`: documents and queries of a search index, and how text is split into words and values, the same for every engine. */

export type { SearchScope } from '../ports/policy.ts'
export type {
  FacetCounts,
  FacetName,
  FacetRequest,
  FieldCount,
  IndexChange,
  MetadataValue,
  NameRequest,
  SearchDocument,
  SearchHits,
  SearchQuery,
  SearchRequest,
  ValueCount,
} from '../ports/search-index.ts'
export { facetNames } from '../ports/search-index.ts'
export { isInScope, matchesQuery, metadataValuesOf, sortValueOf, type WordTests } from './matches-query.ts'
export { createdSpan, metadataValueOf, type Reading, readingOf, type TimeSpan, typedValue } from './readings.ts'
export { type Regex, toLuceneRegex } from './regex.ts'
export { RegexAutomaton, startOf, TooComplex } from './regex-automaton.ts'
export {
  beginningOf,
  beginsWordsOf,
  comparableText,
  comparedChars,
  foldValue,
  isAnything,
  isPattern,
  patternsOf,
  pieceFits,
  type WordSpan,
  wordSpansOf,
  wordsOf,
  wordsPerValue,
} from './text.ts'
