import type { Kind } from 'pounce/sdk'
import type { SearchHits, SearchRequest } from 'pounce/sdk/search'
import { compileQuery, metadataPath, type ScoredPart } from './compile-query.ts'
import { allOf, anyOf, listingsFor, type Parameter, quote, type Rows, type SqlCondition, split } from './condition.ts'
import { InvalidQuery } from './invalid-query.ts'
import type { PreparedStatements } from './prepared-statements.ts'
import { type Limits, permittedBy, rightsInSql, type ScopeFunction, withoutHidden } from './rights.ts'
import { kindKey } from './schema.ts'
import { fieldToken, isFixedField, isPlace, tokens } from './tokens.ts'
import { StoredVocabulary } from './vocabulary.ts'

/** With more hits than this they are not ranked: newest first. */
export const maxRanked = 1000
/** A word in more entries than this is too common to be worth scoring. */
const maxSelective = 3000
/** Further matches do not add to scores: those of 16 words. */
const maxScoredMatches = 192
/** Weights of a match in a column. The score of a part is the sum of those of the columns in which it matches, and the same again for whole words. */
const weights = { name: 10, tags: 6, description: 4, createdas: 2, comments: 2 } as const
/** Other texts have the same weight as a match anywhere. */
const anywhere = 1
const maxCounted = 10_000
/** This few rows are checked one by one; otherwise the full-text index leads. */
const maxListed = { withWords: 2000, withoutWords: 50_000 } as const

const manySpaces = 4

/** Rows that match a request, in SQL. */
interface Source {
  readonly from: string
  readonly rid: string
  readonly parameters: readonly Parameter[]
  /** Each row is read: listing all of them costs no more than counting them. */
  readonly isByRow?: boolean
}

const none: SearchHits = { hits: [], total: 0, isNewestFirst: false }

/** Answers requests from an open index. */
export class SearchRun {
  readonly #statements: PreparedStatements
  readonly #scope: ScopeFunction
  /** Which expressions have few rows, in the search that is running. */
  readonly #few = new Map<string, boolean>()

  constructor(statements: PreparedStatements, scope: ScopeFunction) {
    this.#statements = statements
    this.#scope = scope
  }

  search(request: SearchRequest): SearchHits {
    const matching = this.#matching(request)
    if (!matching) return none
    const { source, compiled, permitted } = matching
    const { sort, from, size } = request
    const by = sort?.by ?? 'score'
    const isAscending = sort?.order === 'ascending'
    if (by !== 'score' && by !== 'created') {
      const total = this.#count(source, maxCounted)
      if (total === 0) return none
      const ids = this.#sortable(by, permitted)
      return { hits: this.#hits(this.#sorted(source, ids, isAscending, from, size)), total, isNewestFirst: false }
    }
    const isByScore = by === 'score'
    const selective = isByScore ? compiled.scored.filter(({ fts }) => this.#isFew(fts)) : []
    const isOrdered = selective.length > 0 || (isByScore && isAscending)
    // Hits that are ordered later may be listed from the oldest on, for which FTS5 takes three quarters of the time.
    const isOldestFirst = isByScore ? isOrdered && !source.isByRow : isAscending
    const enough = source.isByRow ? Math.max(from + size, maxCounted) : isOrdered ? maxRanked + 1 : Math.max(from + size, 1)
    const rows = this.#list(source, enough, isOldestFirst)
    const isWhole = rows.length < enough || source.isByRow
    const total = Math.min(rows.length + (isWhole ? 0 : this.#countAfter(source, rows, isOldestFirst)), maxCounted)
    if (!isOrdered || total > maxRanked) {
      const inOrder = isByScore && isOldestFirst ? this.#list(source, from + size) : rows
      return { hits: this.#hits(inOrder.slice(from, from + size)), total, isNewestFirst: isByScore && compiled.scored.length > 0 }
    }
    const ranked = byScore(selective.length === 0 ? rows : this.#scored(rows, selective))
    const isNewestFirst = selective.length === 0 && compiled.scored.length > 0
    const ordered = isAscending && !isNewestFirst ? ranked.toReversed() : ranked
    return { hits: this.#hits(ordered.slice(from, from + size)), total, isNewestFirst }
  }

  /** Row numbers of the matches of a request, newest first. */
  newest(request: Pick<SearchRequest, 'query' | 'scope' | 'kinds'>, limit: number): readonly number[] {
    const matching = this.#matching(request)
    return matching ? this.#list(matching.source, limit).map(([rid]) => rid) : []
  }

  /** Undefined when the caller may view nothing of what is requested. */
  #matching({ query, scope, kinds }: Pick<SearchRequest, 'query' | 'scope' | 'kinds'>) {
    const permitted = permittedBy(scope)
    if (permitted === undefined || kinds?.length === 0) return undefined
    const compiled = compileQuery(query, new StoredVocabulary(this.#statements, permitted))
    const { fts, sql } = split(compiled.conditions)
    this.#scope.use(scope)
    this.#few.clear()
    const limits = { permitted, ...(kinds && !this.#areAll(kinds) ? { kinds } : {}), scope }
    return { source: this.#source(fts, sql, limits), compiled, permitted }
  }

  /** True if all entries are of these kinds. Comparing the kind of each takes FTS5 as long as the rest of a search. */
  #areAll(kinds: readonly string[]): boolean {
    const recorded = this.#statements.rows('SELECT key FROM meta WHERE key >= ? AND key < ?', kindKey(''), kindKey('\u{10ffff}')).flat()
    const parts = ['', ...kinds].map(kindKey)
    return recorded.includes(kindKey('')) && recorded.every(key => parts.includes(String(key)))
  }

  /** Chooses the leading condition: the words, or a value that few entries have. */
  #source(fts: readonly string[], sql: readonly SqlCondition[], limits: Limits): Source {
    const words = fts.filter(each => each !== quote(tokens.all))
    const kinds = limits.kinds && anyOf(limits.kinds.map(kind => quote(tokens.kind(kind))))
    // Every entry matches the word for all: combined with others it is only a cost.
    const parts = [...words, ...(kinds ? [kinds] : [])]
    const isBeside = words.length > 0 && limits.scope.all
    const whole = isBeside ? withoutHidden(allOf(parts), limits.scope) : allOf([...parts, limits.permitted])
    const max = words.length > 0 ? maxListed.withWords : maxListed.withoutWords
    const listing = listingsFor(sql).find(({ rows }) => this.#hasAtMost(rows, max))
    const rights = rightsInSql(limits)
    if (!listing || (words.length > 0 && this.#isFew(whole))) {
      if (this.#isBetterByRow(words, limits)) return extended(ledBy(allOf(words), rights.length > 0), [...rights, ...sql])
      return extended(ledBy(whole, false), sql)
    }
    const byWords: SqlCondition[] =
      words.length === 0
        ? []
        : [{ sql: 'EXISTS (SELECT 1 FROM fts AS f WHERE f.fts MATCH ? AND f.rowid = $rid)', parameters: [allOf(words)] }]
    const { rows, fulfilled } = listing
    const from =
      rights.length > 0 ? `FROM doc AS d WHERE d.rid IN (${rows.sql})` : `FROM (SELECT DISTINCT doc AS rid FROM (${rows.sql})) AS d WHERE 1`
    const lead = { from, rid: 'd.rid', parameters: rows.parameters, isByRow: true }
    return extended(lead, [...rights, ...sql.filter(each => !fulfilled.includes(each)), ...byWords])
  }

  #hasAtMost(rows: Rows, max: number): boolean {
    const row = this.#statements.get(`SELECT count(*) AS n FROM (${rows.sql} LIMIT ?+0)`, ...rows.parameters, max + 1)
    return Number(row?.['n']) <= max
  }

  #isFew(words: string): boolean {
    const known = this.#few.get(words)
    if (known !== undefined) return known
    const isIt = this.#count(ledBy(words, false), maxSelective) < maxSelective
    this.#few.set(words, isIt)
    return isIt
  }

  /**
   * Few rows with one of these words, or with all of them and so many spaces that querying the index for each of them costs more than reading
   * the rows.
   */
  #isBetterByRow(words: readonly string[], { scope }: Limits): boolean {
    if (words.some(each => this.#isFew(each))) return true
    return words.length > 1 && !scope.all && scope.spaces.length > manySpaces && this.#isFew(allOf(words))
  }

  #list(source: Source, limit: number, isOldestFirst = false): readonly ListedRow[] {
    return this.#statements.rows(
      `SELECT ${source.rid} AS rid ${source.from} ORDER BY ${source.rid} ${isOldestFirst ? 'ASC' : 'DESC'} LIMIT ?+0`,
      ...source.parameters,
      limit,
    ) as readonly ListedRow[]
  }

  #count(source: Source, limit: number): number {
    const row = this.#statements.get(`SELECT count(*) AS n FROM (SELECT 1 ${source.from} LIMIT ?+0)`, ...source.parameters, limit)
    return Number(row?.['n'])
  }

  /** The number of rows after those that were listed. */
  #countAfter(source: Source, rows: readonly ListedRow[], isOldestFirst: boolean): number {
    const [last] = rows.at(-1) ?? [0]
    const after = extended(source, [{ sql: `$rid ${isOldestFirst ? '>' : '<'} ?`, parameters: [last] }])
    return this.#count(after, Math.max(maxCounted - rows.length, 0))
  }

  /**
   * The rows with their scores. Unlike `bm25`, these depend on nothing but the entry itself: statistics of all entries would disclose which words hidden ones
   * have.
   */
  #scored(rows: readonly ListedRow[], parts: readonly ScoredPart[]): readonly ListedRow[] {
    const weighted = parts.flatMap(weightedMatches).slice(0, maxScoredMatches)
    const each = weighted.map(({ weight }) => `SELECT rowid, ${weight} AS weight FROM fts WHERE fts MATCH ?`).join(' UNION ALL ')
    const found = this.#statements.rows(`SELECT rowid, sum(weight) FROM (${each}) GROUP BY rowid`, ...weighted.map(({ fts }) => fts))
    const scores = new Map(found as readonly (readonly [number, number])[])
    return rows.map(([rid]) => [rid, scores.get(rid) ?? 0])
  }

  /** The ids of a metadata field with numbers or dates. Throws `InvalidQuery` if the caller may view no entry with it. */
  #sortable(by: string, permitted: string): readonly number[] {
    const isText = isFixedField(by) || isPlace(by)
    const fields = isText ? [] : new StoredVocabulary(this.#statements, permitted).fields(metadataPath(by))
    const ids = fields.filter(({ type }) => type !== 'text').map(({ id }) => id)
    const having = allOf([anyOf(ids.map(id => quote(tokens.has(fieldToken(id))))), permitted])
    if (this.#count(ledBy(having, false), 1) === 0)
      throw new InvalidQuery(`Results cannot be sorted by ${by}; use score, created, or a metadata field that is a number or a date`)
    return ids
  }

  /** By a metadata field: walks its values in order as far as needed, then the entries without a value, newest first. */
  #sorted(source: Source, ids: readonly number[], isAscending: boolean, from: number, size: number): readonly ListedRow[] {
    const rids = `SELECT ${source.rid} ${source.from}`
    const isFew = this.#count(source, maxSelective) < maxSelective
    const walk = this.#statements.of(
      `SELECT doc FROM value WHERE ${isFew ? '+' : ''}field IN (${ids.join(', ')}) AND ${isFew ? '' : '+'}doc IN (${rids}) ORDER BY v ${isAscending ? 'ASC' : 'DESC'}, doc DESC`,
    )
    const seen = new Set<number>()
    for (const { doc } of walk.iterate(...source.parameters)) {
      seen.add(Number(doc))
      if (seen.size >= from + size) break
    }
    const having = [...seen].slice(from, from + size)
    if (having.length === size) return having.map(rid => [rid])
    const without = anyOf(ids.map(id => quote(tokens.has(fieldToken(id)))))
    const rest = extended(source, [{ sql: '$rid NOT IN (SELECT f.rowid FROM fts AS f WHERE f.fts MATCH ?)', parameters: [without] }])
    const skipped = Math.max(from - seen.size, 0)
    const others = this.#list(rest, skipped + size - having.length).slice(skipped)
    return [...having.map((rid): ListedRow => [rid]), ...others]
  }

  #hits(rows: readonly ListedRow[]): SearchHits['hits'] {
    return hitsOf(
      this.#statements,
      rows.map(([rid]) => rid),
    )
  }
}

/** The documents with these row numbers, in the same order. */
export function hitsOf(statements: PreparedStatements, rids: readonly number[]): SearchHits['hits'] {
  const found = statements.rows('SELECT d.id, d.kind FROM json_each(?) AS r CROSS JOIN doc AS d ON d.rid = r.value', JSON.stringify(rids))
  return found.map(([id, kind]) => ({ id: String(id), kind: kind as Kind }))
}

/** A row number, and its score if it was computed. */
type ListedRow = readonly [rid: number, score?: number]

/** Best first; equal ones newest first. */
const byScore = (rows: readonly ListedRow[]): readonly ListedRow[] => rows.toSorted(([one, a = 0], [other, b = 0]) => b - a || other - one)

/** What the hits of a part are searched for in, with the weight of a match. */
function weightedMatches({ fts, whole, column, within }: ScoredPart): readonly { readonly fts: string; readonly weight: number }[] {
  const matches = [fts, ...(whole === undefined ? [] : [whole])].flatMap(each =>
    column === undefined
      ? [...Object.entries(weights).map(([name, weight]) => ({ fts: `${name} : (${each})`, weight })), { fts: each, weight: anywhere }]
      : [{ fts: each, weight: weights[column] }],
  )
  return within.length === 0 ? matches : matches.map(match => ({ ...match, fts: allOf([`(${match.fts})`, ...within]) }))
}

/** Rows with these words; their documents are only joined if they are needed. */
const ledBy = (words: string, hasDocuments: boolean): Source => ({
  from: `FROM fts ${hasDocuments ? 'CROSS JOIN doc AS d ON d.rid = fts.rowid ' : ''}WHERE fts MATCH ?`,
  rid: 'fts.rowid',
  parameters: [words],
})

const extended = (source: Source, conditions: readonly SqlCondition[]): Source => ({
  ...source,
  from: [source.from, ...conditions.map(({ sql }) => sql.replaceAll('$rid', source.rid))].join(' AND '),
  parameters: [...source.parameters, ...conditions.flatMap(({ parameters }) => parameters)],
})
