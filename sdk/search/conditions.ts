import type { ParsedAtom, ParsedQuery } from './grammar/query-parser.js'
import { parseQuery } from './parsing.ts'
import { readQuery } from './read-query.ts'

/** One condition of a query, as written. */
export interface QueryCondition {
  /** Preceded by NOT. */
  readonly not: boolean
  /** Null: any field. */
  readonly field: string | null
  readonly operator: ':' | '==' | '!=' | '<' | '<=' | '>' | '>=' | 'exists' | 'missing'
  /** Alternatives separated by `|`. */
  readonly values: readonly { readonly is: 'words' | 'phrase' | 'expression'; readonly text: string }[]
}

/** A query as a flat list of conditions. `conditions` is null for a query with parentheses or with both AND and OR. */
export interface QueryConditions {
  readonly join: 'and' | 'or'
  readonly conditions: readonly QueryCondition[] | null
}

const values = (atoms: readonly ParsedAtom[]): QueryCondition['values'] =>
  atoms.map(({ is, text }) => ({ is: is === 'bare' ? 'words' : is === 'quoted' ? 'phrase' : 'expression', text }))

const conditionOf = (parsed: ParsedQuery): QueryCondition | undefined => {
  if (parsed.is === 'not') {
    const inner = conditionOf(parsed.what)
    return inner && !inner.not ? { ...inner, not: true } : undefined
  }
  if (parsed.is === 'free') return { not: false, field: null, operator: ':', values: values(parsed.values) }
  if (parsed.is !== 'comparison') return undefined
  const { field, operator } = parsed
  if (field.is === 'bare' && (field.text === 'exists' || field.text === 'missing')) {
    const [only, ...more] = parsed.values
    return only && more.length === 0 ? { not: false, field: only.text, operator: field.text, values: [] } : undefined
  }
  return { not: false, field: field.text, operator: operator === '=' ? '==' : operator, values: values(parsed.values) }
}

/** Splits a query into conditions, for displaying them separately. `Invalid` like `readQuery`. */
export const conditionsOf = (text: string): QueryConditions => {
  readQuery(text)
  const parsed = parseQuery(text)
  if (parsed === null) return { join: 'and', conditions: [] }
  const parts = parsed.is === 'and' || parsed.is === 'or' ? parsed.of : [parsed]
  const conditions = parts.map(conditionOf)
  return {
    join: parsed.is === 'or' ? 'or' : 'and',
    conditions: conditions.every(condition => condition !== undefined) ? conditions : null,
  }
}
