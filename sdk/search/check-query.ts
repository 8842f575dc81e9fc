import type { SearchQuery } from '../ports/search-index.ts'
import { Invalid } from '../problem.ts'
import { patternsOf } from './text.ts'

/** What a query may consist of. */
export const queryLimits = { depth: 25, conditions: 500, words: 1000, expressions: 10, ids: 1000 } as const

interface Counts {
  conditions: number
  words: number
  expressions: number
  ids: number
}

/** The query itself; `Invalid` when it is larger than `queryLimits`. */
export function checkQuery(query: SearchQuery): SearchQuery {
  const counts: Counts = { conditions: 0, words: 0, expressions: 0, ids: 0 }
  count(query, 1, counts)
  for (const part of ['conditions', 'words', 'expressions', 'ids'] as const) {
    if (counts[part] > queryLimits[part]) throw new Invalid(`The query has ${counts[part]} ${part}; it can have ${queryLimits[part]}`)
  }
  return query
}

function count(query: SearchQuery, depth: number, counts: Counts): void {
  if (depth > queryLimits.depth) throw new Invalid(`The query is nested more than ${queryLimits.depth} deep`)
  const words = (texts: readonly (string | number | Date)[]): void => {
    counts.conditions += texts.length
    for (const text of texts) if (typeof text === 'string') counts.words += patternsOf(text).length
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
