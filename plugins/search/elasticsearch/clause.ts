import { beginningOf, isPattern } from 'pounce/sdk/search'

/** A query of the server. Text of people is only ever a value in it. */
export type Clause = Readonly<Record<string, unknown>>

export const everything: Clause = { match_all: {} }
export const nothing: Clause = { match_none: {} }

export const allOf = (clauses: readonly Clause[]): Clause =>
  clauses.length === 0 ? everything : clauses.length === 1 ? (clauses[0] as Clause) : { bool: { filter: clauses } }

export const anyOf = (clauses: readonly Clause[]): Clause =>
  clauses.length === 0 ? nothing : clauses.length === 1 ? (clauses[0] as Clause) : { bool: { should: clauses, minimum_should_match: 1 } }

export const not = (clause: Clause): Clause => ({ bool: { must_not: [clause] } })

export const term = (field: string, value: string | number | boolean): Clause => ({ term: { [field]: { value } } })
export const terms = (field: string, values: readonly string[]): Clause => ({ terms: { [field]: values } })
export const prefix = (field: string, value: string): Clause => ({ prefix: { [field]: { value } } })
export const regexp = (field: string, value: string): Clause => ({ regexp: { [field]: { value, flags: 'NONE' } } })

/** Words next to each other, in one value of the field. They have no blanks in them. */
export const phrase = (field: string, words: readonly string[]): Clause =>
  words.length === 1
    ? term(field, words[0] as string)
    : { match_phrase: { [field]: { query: words.join(' '), analyzer: 'whitespace', slop: 0 } } }

/** The same, where the last one may go on. */
export const phraseBegins = (field: string, words: readonly string[]): Clause => {
  const last = { span_multi: { match: { prefix: { [field]: { value: words.at(-1) } } } } }
  const clauses = [...words.slice(0, -1).map(word => ({ span_term: { [field]: word } })), last]
  return { span_near: { clauses, slop: 0, in_order: true } }
}

/** A word of the field that begins so, or that the pattern fits. `before` stands before each word of the field. */
export function pieceIn(field: string, piece: string, before = ''): Clause {
  const begin = isPattern(piece) ? beginningOf(piece) : piece
  return begin === undefined ? { wildcard: { [field]: { value: before + piece } } } : prefix(field, before + begin)
}
