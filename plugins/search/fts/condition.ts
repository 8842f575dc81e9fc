/** A value bound to a statement. */
export type Parameter = string | number

/** A comparison of metadata values that an index of values can evaluate. */
export interface ValueRange {
  /** IDs of the fields, for SQL's IN. */
  readonly fields: string
  /** Such as `v > ?`. */
  readonly fits: string
  readonly parameters: readonly Parameter[]
  /** No document has several values, so that two comparisons concern the same one. */
  readonly isSingle: boolean
}

/** A statement that lists row numbers under the name `doc`, possibly with duplicates. */
export interface Rows {
  readonly sql: string
  readonly parameters: readonly Parameter[]
}

/** A condition on the row number `$rid` in SQL. With `range` or `rows`, the matching rows can also be listed. */
export interface SqlCondition {
  readonly sql: string
  readonly parameters: readonly Parameter[]
  /** The whole condition is this comparison. */
  readonly range?: ValueRange
  readonly rows?: Rows
}

const rowsIn = ({ fields, fits, parameters }: ValueRange): Rows => ({
  sql: `SELECT doc FROM value WHERE field IN (${fields}) AND ${fits}`,
  parameters,
})

/** A way to list the rows that match some of the conditions, which then need not be checked again. */
export interface Listing {
  readonly rows: Rows
  readonly fulfilled: readonly SqlCondition[]
}

/** Ways to list a superset of the matching rows: both bounds of an interval are one. */
export function listingsFor(conditions: readonly SqlCondition[]): readonly Listing[] {
  const merged = new Map<string, { readonly range: ValueRange; readonly fulfilled: readonly SqlCondition[] }>()
  for (const [at, condition] of conditions.entries()) {
    const { range } = condition
    if (!range) continue
    const key = range.isSingle ? range.fields : `${range.fields} ${at}`
    const other = merged.get(key)
    merged.set(key, { range: other ? intersection(other.range, range) : range, fulfilled: [...(other?.fulfilled ?? []), condition] })
  }
  return [
    ...[...merged.values()].map(({ range, fulfilled }) => ({ rows: rowsIn(range), fulfilled })),
    ...conditions.flatMap(condition => (condition.rows ? [{ rows: condition.rows, fulfilled: [condition] }] : [])),
  ]
}

const intersection = (one: ValueRange, other: ValueRange): ValueRange => ({
  ...one,
  fits: `${one.fits} AND ${other.fits}`,
  parameters: [...one.parameters, ...other.parameters],
})

/** A part of a query: an expression of the full-text index, or a condition in SQL where that index cannot evaluate it. */
export type Condition = { readonly fts: string } | SqlCondition

const isFts = (condition: Condition): condition is { readonly fts: string } => 'fts' in condition

/** Words of letters and digits, or synthetic ones: quoted, they are never syntax. */
export const quote = (...words: readonly string[]): string => `"${words.join(' ').replaceAll('"', '')}"`

/** Conditions that are true for every entry and for none. */
export const everything: Condition = { fts: quote('_all') }
export const nothing: Condition = { fts: quote('_none') }

/** One of these IDs, of a searchable entry: the table of documents has others too. */
export function hasId(ids: readonly string[]): Condition {
  if (ids.length === 0) return nothing
  const rows = {
    sql: 'SELECT rid AS doc FROM doc WHERE listed = 1 AND id IN (SELECT value FROM json_each(?))',
    parameters: [JSON.stringify(ids)],
  }
  return { sql: `($rid IN (${rows.sql}))`, parameters: rows.parameters, rows }
}

export const anyOf = (expressions: readonly string[]): string =>
  expressions.length === 0 ? quote('_none') : expressions.length === 1 ? (expressions[0] as string) : `(${expressions.join(' OR ')})`

/**
 * The same for very many. FTS5 evaluates every branch of an OR for each row, and flattens nested ones; a NOT without effect
 * prevents that, so that a row costs about two square roots of their number.
 */
export function anyOfMany(expressions: readonly string[]): string {
  if (expressions.length < 16) return anyOf(expressions)
  const size = Math.ceil(Math.sqrt(expressions.length))
  const groups = Array.from({ length: Math.ceil(expressions.length / size) }, (_, at) => expressions.slice(at * size, (at + 1) * size))
  return anyOf(groups.map(group => `(${anyOf(group)} NOT ${quote('_none')})`))
}

export const allOf = (expressions: readonly string[]): string =>
  expressions.length === 1 ? (expressions[0] as string) : `(${expressions.join(' AND ')})`

/** The condition in SQL, whatever its kind. */
const asSql = (condition: Condition): SqlCondition =>
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
  return joinedConditions(fts.length === 0 ? sql : [asSql({ fts: allOf(fts) }), ...sql], ' AND ')
}

export function or(all: readonly Condition[]): Condition {
  const conditions = all.filter(condition => !isFts(condition) || condition.fts !== quote('_none'))
  const { fts, sql } = split(conditions)
  if (sql.length === 0) return { fts: anyOf(fts) }
  if (fts.length === 0 && sql.length === 1) return sql[0] as SqlCondition
  const rows = conditions.map(rowsOf)
  const condition = joinedConditions(fts.length === 0 ? sql : [asSql({ fts: anyOf(fts) }), ...sql], ' OR ')
  return rows.every(each => each !== undefined) ? { ...condition, rows: joinedRows(rows) } : condition
}

export function not(condition: Condition): Condition {
  if (isFts(condition)) return { fts: `(${quote('_all')} NOT ${condition.fts})` }
  return { sql: `NOT ${condition.sql}`, parameters: condition.parameters }
}

function rowsOf(condition: Condition): Rows | undefined {
  if (isFts(condition)) return { sql: 'SELECT rowid AS doc FROM fts WHERE fts MATCH ?', parameters: [condition.fts] }
  return condition.range ? rowsIn(condition.range) : condition.rows
}

const joinedRows = (rows: readonly Rows[]): Rows => ({
  sql: rows.map(({ sql }) => sql).join(' UNION ALL '),
  parameters: rows.flatMap(({ parameters }) => parameters),
})

const joinedConditions = (parts: readonly SqlCondition[], word: ' AND ' | ' OR '): SqlCondition => ({
  sql: `(${parts.map(({ sql }) => sql).join(word)})`,
  parameters: parts.flatMap(({ parameters }) => parameters),
})
