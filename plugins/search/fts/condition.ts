/** A value bound to a statement. */
export type Parameter = string | number

/** A comparison of the values of metadata fields: what can be read off an index of values. */
export interface ValueRange {
  /** Numbers of the fields, for SQL's IN. */
  readonly fields: string
  /** Such as `v > ?`. */
  readonly fits: string
  readonly parameters: readonly Parameter[]
  /** No document has several values, so that two comparisons are about the same one. */
  readonly isSingle: boolean
}

/** A condition on the row number `$rid` in SQL; `range` is there when that is all there is to it. */
export interface SqlCondition {
  readonly sql: string
  readonly parameters: readonly Parameter[]
  readonly range?: ValueRange
}

/** Ranges that rows can be listed by: both ends of an interval are one. */
export function mergedRanges(conditions: readonly SqlCondition[]): readonly ValueRange[] {
  const merged = new Map<string, ValueRange>()
  for (const [at, { range }] of conditions.entries()) {
    if (!range) continue
    const key = range.isSingle ? range.fields : `${range.fields} ${at}`
    const other = merged.get(key)
    const both = other && { ...range, fits: `${other.fits} AND ${range.fits}`, parameters: [...other.parameters, ...range.parameters] }
    merged.set(key, both ?? range)
  }
  return [...merged.values()]
}

/** A part of a query: an expression of the full-text index, or a condition in SQL where that index cannot tell. */
export type Condition = { readonly fts: string } | SqlCondition

export const isFts = (condition: Condition): condition is { readonly fts: string } => 'fts' in condition

/** Words made of letters and digits, or made-up ones: quoted, they are never syntax. */
export const quote = (...words: readonly string[]): string => `"${words.join(' ').replaceAll('"', '')}"`

/** What every entry, and what none, fulfils. */
export const everything: Condition = { fts: quote('_all') }
export const nothing: Condition = { fts: quote('_none') }

export const anyOf = (expressions: readonly string[]): string =>
  expressions.length === 0 ? quote('_none') : expressions.length === 1 ? (expressions[0] as string) : `(${expressions.join(' OR ')})`

export const allOf = (expressions: readonly string[]): string =>
  expressions.length === 1 ? (expressions[0] as string) : `(${expressions.join(' AND ')})`

/** The condition in SQL, whatever it was. */
export const asSql = (condition: Condition): SqlCondition =>
  isFts(condition) ? { sql: '$rid IN (SELECT f.rowid FROM fts AS f WHERE f.fts MATCH ?)', parameters: [condition.fts] } : condition

/** Both kinds of conditions kept apart, so that the full-text part can drive the search. */
export function split(conditions: readonly Condition[]): { readonly fts: readonly string[]; readonly sql: readonly SqlCondition[] } {
  return {
    fts: conditions.filter(isFts).map(({ fts }) => fts),
    sql: conditions.filter(condition => !isFts(condition)) as SqlCondition[],
  }
}

export function and(conditions: readonly Condition[]): Condition {
  const { fts, sql } = split(conditions)
  if (sql.length === 0) return fts.length === 0 ? everything : { fts: allOf(fts) }
  if (fts.length === 0 && sql.length === 1) return sql[0] as SqlCondition
  return joined(fts.length === 0 ? sql : [asSql({ fts: allOf(fts) }), ...sql], ' AND ')
}

export function or(conditions: readonly Condition[]): Condition {
  const { fts, sql } = split(conditions)
  if (sql.length === 0) return { fts: anyOf(fts) }
  if (fts.length === 0 && sql.length === 1) return sql[0] as SqlCondition
  return joined(fts.length === 0 ? sql : [asSql({ fts: anyOf(fts) }), ...sql], ' OR ')
}

export function not(condition: Condition): Condition {
  if (isFts(condition)) return { fts: `(${quote('_all')} NOT ${condition.fts})` }
  return { sql: `NOT ${condition.sql}`, parameters: condition.parameters }
}

const joined = (parts: readonly SqlCondition[], word: ' AND ' | ' OR '): SqlCondition => ({
  sql: `(${parts.map(({ sql }) => sql).join(word)})`,
  parameters: parts.flatMap(({ parameters }) => parameters),
})
