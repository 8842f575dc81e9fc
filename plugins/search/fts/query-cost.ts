import type { SearchQuery } from 'pounce/sdk/search'
import { beginningOf, isPattern, patternsOf } from 'pounce/sdk/search'
import type { ReadRequest } from './search-task.ts'
import { isFixedField } from './tokens.ts'

const maxCost = 4
/** All words with a short prefix are merged; whole words and longer prefixes are looked up. */
const [shortWord, longWord, shortChars] = [3, 1, 3]
const unbounded = Number.POSITIVE_INFINITY

/**
 * True when a small index can answer within some 20 ms, whatever its content: a few words that are looked up. Patterns and expressions scan all
 * words, metadata conditions all fields of a name, suggestions all values: these run in a thread, with a time limit.
 */
export const isCheap = (request: ReadRequest): boolean => {
  if (request.type === 'names') return costOfWords(request.request.text) <= maxCost
  if (request.type === 'facets') return costOf(request.request.query) <= maxCost
  return request.type === 'search' && request.request.sort === undefined && costOf(request.request.query) <= maxCost
}

function costOf(query: SearchQuery): number {
  switch (query.op) {
    case 'all':
      return 0
    case 'and':
      return total(query.all)
    case 'or':
      return total(query.any)
    case 'not':
      return costOf(query.not)
    case 'word':
      return costOfWords(query.text)
    case 'phrase':
      return query.field === undefined || isFixedField(query.field) ? costOfWords(query.text) : unbounded
    case 'field':
      if (!isFixedField(query.field)) return unbounded
      return query.values.reduce<number>((sum, value) => sum + costOfWords(String(value)), 0)
    default:
      return unbounded
  }
}

const total = (parts: readonly SearchQuery[]): number => parts.reduce((sum, part) => sum + costOf(part), 0)

function costOfWords(text: string): number {
  if (text.length > 200) return unbounded
  return patternsOf(text).reduce((sum, piece) => {
    const begin = beginningOf(piece) ?? piece
    if (isPattern(begin)) return unbounded
    return sum + (begin.length > shortChars ? longWord : shortWord)
  }, 0)
}
