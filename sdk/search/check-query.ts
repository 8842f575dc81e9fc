import type { SearchQuery } from '../ports/search-index.ts'
import { Invalid } from '../problem.ts'
import { beginningOf, isAnything, isPattern, patternsOf } from './text.ts'

/** Limits of a query. */
export const queryLimits = { depth: 25, conditions: 500, words: 1000, patterns: 20, expressions: 10, ids: 1000 } as const

const hints: Partial<Record<keyof Counts, string>> = {
  patterns: '. Use whole words or prefixes such as leaf*, or several queries',
  expressions: '. Join them with |, or use several queries',
}

interface Counts {
  conditions: number
  words: number
  /** Patterns with `*` or `?` other than at the end: each is compared with all words in the index. */
  patterns: number
  expressions: number
  ids: number
}

/** Returns the query; throws `Invalid` if it exceeds `queryLimits`. */
export function checkQuery(query: SearchQuery): SearchQuery {
  const counts: Counts = { conditions: 0, words: 0, patterns: 0, expressions: 0, ids: 0 }
  count(query, 1, counts)
  for (const part of ['conditions', 'words', 'patterns', 'expressions', 'ids'] as const) {
    if (counts[part] > queryLimits[part])
      throw new Invalid(`The query has ${counts[part]} ${part}; the maximum is ${queryLimits[part]}${hints[part] ?? ''}`)
  }
  return query
}

function count(query: SearchQuery, depth: number, counts: Counts): void {
  if (depth > queryLimits.depth) throw new Invalid(`The query is nested more than ${queryLimits.depth} deep`)
  const words = (texts: readonly (string | number | Date)[]): void => {
    counts.conditions += texts.length
    for (const text of texts) if (typeof text === 'string') countWords(text, counts)
  }
  if (query.op === 'and') for (const part of query.all) count(part, depth + 1, counts)
  else if (query.op === 'or') for (const part of query.any) count(part, depth + 1, counts)
  else if (query.op === 'not') count(query.not, depth + 1, counts)
  else if (query.op === 'field') words(query.values)
  else if (query.op === 'word' || query.op === 'phrase') words([query.text])
  else {
    counts.conditions += 1
    if (query.op === 'regex') counts.expressions += 1
    if (query.op === 'ids') counts.ids += query.ids.length
  }
}

function countWords(text: string, counts: Counts): void {
  const pieces = patternsOf(text)
  counts.words += pieces.length
  counts.patterns += pieces.filter(piece => isPattern(piece) && !isAnything(piece) && beginningOf(piece) === undefined).length
}
