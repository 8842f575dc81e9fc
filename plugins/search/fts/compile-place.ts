import { foldValue, patternsOf, pieceFits, type Regex } from 'pounce/sdk/search'
import { automatonOf } from './compile-words.ts'
import { anyOf, type Condition, quote } from './condition.ts'
import { InvalidQuery } from './invalid-query.ts'
import { type PlaceField, tokens } from './tokens.ts'

const kinds = [
  ...['file', 'dataset', 'collection', 'sensor', 'stream'],
  ...['space', 'folder', 'section', 'preview', 'user', 'metadata', 'comment', 'thumbnail'],
]

const ofKinds = (fits: (kind: string) => boolean): Condition => ({
  fts: anyOf(kinds.filter(fits).map(kind => quote(tokens.kind(kind)))),
})

/** What kind a thing is, or what it is in. */
export function placeIs(field: PlaceField, value: string, is: 'contains' | 'equals'): Condition {
  if (field === 'in') return { fts: quote(tokens.within(value)) }
  if (is === 'equals') return ofKinds(kind => kind === foldValue(value))
  const pieces = patternsOf(value)
  return ofKinds(kind => pieces.length > 0 && pieces.every(piece => pieceFits(piece, kind)))
}

export const placePhrase = (field: PlaceField, text: string): Condition => placeIs(field, text.trim(), 'equals')

export function placeRegex(field: PlaceField, regex: Regex): Condition {
  if (field !== 'resource_type') throw new InvalidQuery(`${field} must be an id, not a regular expression`)
  const automaton = automatonOf(regex)
  return ofKinds(kind => automaton.fits(kind))
}
