import { beginningOf, isPattern } from 'pounce/sdk/search'

/** A query of the server. User text is only ever a value in it. */
export type Clause = Readonly<Record<string, unknown>>

export const everything: Clause = { match_all: {} }
export const nothing: Clause = { match_none: {} }

/** AND. Nested conditions are flattened where possible: the server accepts 30 levels. */
export function allOf(clauses: readonly Clause[]): Clause {
  if (clauses.includes(nothing)) return nothing
  const all = clauses.flatMap(clause => partsOf(clause, 'filter')).filter(clause => clause !== everything)
  return all.length === 0 ? everything : all.length === 1 ? (all[0] as Clause) : { bool: { filter: all } }
}

/** At least one of them holds. */
export function anyOf(clauses: readonly Clause[]): Clause {
  if (clauses.includes(everything)) return everything
  const any = clauses.flatMap(clause => partsOf(clause, 'should')).filter(clause => clause !== nothing)
  return any.length === 0 ? nothing : any.length === 1 ? (any[0] as Clause) : { bool: { should: any } }
}

export function not(clause: Clause): Clause {
  if (clause === everything || clause === nothing) return clause === nothing ? everything : nothing
  const negated = partsOf(clause, 'must_not')
  return negated[0] !== clause && negated.length === 1 ? (negated[0] as Clause) : { bool: { must_not: [clause] } }
}

/** The members of a condition that is only a list of this kind; otherwise the condition itself. */
function partsOf(clause: Clause, kind: 'filter' | 'should' | 'must_not'): readonly Clause[] {
  const { bool } = clause as { readonly bool?: Readonly<Record<string, readonly Clause[]>> }
  const parts = bool?.[kind]
  return parts && Object.keys(bool).length === 1 ? parts : [clause]
}

export const term = (field: string, value: string | number | boolean): Clause => ({ term: { [field]: { value } } })
export const terms = (field: string, values: readonly string[]): Clause => ({ terms: { [field]: values } })
export const prefix = (field: string, value: string): Clause => ({ prefix: { [field]: { value } } })
export const regexp = (field: string, value: string): Clause => ({ regexp: { [field]: { value, flags: 'NONE' } } })

/** Words next to each other, in one value of the field. They contain no blanks. */
export const phrase = (field: string, words: readonly string[]): Clause =>
  words.length === 1
    ? term(field, words[0] as string)
    : { match_phrase: { [field]: { query: words.join(' '), analyzer: 'whitespace', slop: 0 } } }

/** The same, with the last word as a prefix. */
export const phraseBegins = (field: string, words: readonly string[]): Clause => {
  const last = { span_multi: { match: { prefix: { [field]: { value: words.at(-1) } } } } }
  const clauses = [...words.slice(0, -1).map(word => ({ span_term: { [field]: word } })), last]
  return { span_near: { clauses, slop: 0, in_order: true } }
}

/**
 * For scores: the words before the last one next to each other, and a word with the last one as prefix. The server never refuses it, however many
 * words of hidden entries have the prefix.
 */
export const phraseAndPrefix = (field: string, words: readonly string[]): Clause => ({
  bool: { must: [phrase(field, words.slice(0, -1)), prefix(field, words.at(-1) ?? '')] },
})

/** A word of the field with this prefix, or matching the pattern. `before` is the prefix of each word of the field. */
export function pieceIn(field: string, piece: string, before = ''): Clause {
  const begin = isPattern(piece) ? beginningOf(piece) : piece
  return begin === undefined ? { wildcard: { [field]: { value: before + piece } } } : prefix(field, before + begin)
}
