import type { DatabaseSync } from 'node:sqlite'
import type { SearchHits, SearchRequest } from 'pounce/sdk/search'
import { type CompiledQuery, compileQuery, metadataPath } from './compile-query.ts'
import { allOf, anyOf, type Parameter, quote, type Rows, type SqlCondition, split, waysToList } from './condition.ts'
import { InvalidQuery } from './invalid-query.ts'
import { type Limits, permittedBy, rightsInSql, type ScopeFunction, withoutHidden } from './rights.ts'
import { rank } from './schema.ts'
import { fieldToken, isFixedField, isPlace, tokens } from './tokens.ts'
import { StoredVocabulary } from './vocabulary.ts'

/** With more hits than this they are not ranked: newest first. */
export const maxRanked = 1000
/** A word in more entries than this is too common to be worth scoring. */
const tellingAtMost = 3000
const countedAtMost = 10_000
/** This few rows are checked one by one; otherwise the full-text index leads. */
const listedAtMost = { withWords: 2000, withoutWords: 50_000 } as const

/** Rows that match a request, in SQL. */
interface Source {
  readonly from: string
  readonly rid: string
  readonly parameters: readonly Parameter[]
  /** Each row is read: listing all of them costs no more than counting them. */
  readonly isByRow?: boolean
}

const manySpaces = 4

const wordsLed = (words: string): Source => ({
  from: 'FROM fts CROSS JOIN doc AS d ON d.rid = fts.rowid WHERE fts MATCH ?',
  rid: 'fts.rowid',
  parameters: [words],
  isByRow: true,
})

const none: SearchHits = { hits: [], total: 0, isNewestFirst: false }

/** Answers requests from an open index. */
export class SearchRun {
  readonly #db: DatabaseSync
  readonly #vocabulary: StoredVocabulary
  readonly #scope: ScopeFunction

  constructor(db: DatabaseSync, scope: ScopeFunction) {
    this.#db = db
    this.#scope = scope
    this.#vocabulary = new StoredVocabulary(db)
  }

  search(request: SearchRequest): SearchHits {
    const matching = this.#matching(request)
    if (!matching) return none
    const { source, compiled } = matching
    const { sort, from, size } = request
    const by = sort?.by ?? 'score'
    const isAscending = sort?.order === 'ascending'
    const all = source.isByRow ? this.#list(source, countedAtMost, 0, false) : undefined
    const total = all?.length ?? this.#count(source, countedAtMost)
    if (by !== 'score' && by !== 'created') {
      return { hits: this.#hits(this.#sorted(source, by, isAscending, from, size)), total, isNewestFirst: false }
    }
    if (by === 'score' && total <= maxRanked) {
      const { rids, isRanked } = this.#ranked(all ?? this.#list(source, maxRanked, 0, false), compiled)
      const ordered = isAscending && isRanked ? [...rids].reverse() : rids
      return { hits: this.#hits(ordered.slice(from, from + size)), total, isNewestFirst: !isRanked }
    }
    const isOldestFirst = by === 'created' && isAscending
    const rids = all && !isOldestFirst ? all.slice(from, from + size) : this.#list(source, size, from, isOldestFirst)
    return { hits: this.#hits(rids), total, isNewestFirst: by === 'score' && compiled.scored.length > 0 }
  }

  /** Row numbers of the matches of a request, newest first. */
  newest(request: Pick<SearchRequest, 'query' | 'scope' | 'kinds'>, limit: number): readonly number[] {
    const matching = this.#matching(request)
    return matching ? this.#list(matching.source, limit, 0, false) : []
  }

  /** Undefined when the caller may view nothing of what is requested. */
  #matching({ query, scope, kinds }: Pick<SearchRequest, 'query' | 'scope' | 'kinds'>) {
    const permitted = permittedBy(scope)
    if (permitted === undefined || kinds?.length === 0) return undefined
    const compiled = compileQuery(query, this.#vocabulary)
    const { fts, sql } = split(compiled.conditions)
    this.#scope.use(scope)
    const limits = { permitted, ...(kinds ? { kinds } : {}), scope }
    return { source: this.#source(fts, sql, limits), compiled }
  }

  /** Chooses the leading condition: the words, or a value that few entries have. */
  #source(fts: readonly string[], sql: readonly SqlCondition[], limits: Limits): Source {
    const words = fts.filter(each => each !== quote(tokens.all))
    const kinds = limits.kinds && anyOf(limits.kinds.map(kind => quote(tokens.kind(kind))))
    // Every entry matches the word for all: combined with others it is only a cost.
    const asked = [...words, ...(kinds ? [kinds] : [])]
    const isBeside = words.length > 0 && limits.scope.all
    const whole = isBeside ? withoutHidden(allOf(asked), limits.scope) : allOf([...asked, limits.permitted])
    const led = { from: 'FROM fts WHERE fts MATCH ?', rid: 'fts.rowid', parameters: [whole] }
    const most = words.length > 0 ? listedAtMost.withWords : listedAtMost.withoutWords
    const listing = waysToList(sql).find(({ rows }) => this.#isAtMost(rows, most))
    const rights = rightsInSql(limits)
    if (!listing || (words.length > 0 && this.#isFew(led))) {
      return this.#isBetterByRow(words, limits) ? extended(wordsLed(allOf(words)), [...rights, ...sql]) : extended(led, sql)
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

  /** Few rows with these words, and so many spaces that querying the index for each of them costs more than reading the rows. */
  #isBetterByRow(words: readonly string[], { scope }: Limits): boolean {
    return words.length > 0 && !scope.all && scope.spaces.length > manySpaces && this.#isFew(wordsLed(allOf(words)))
  }

  #isAtMost(rows: Rows, most: number): boolean {
    const row = this.#db.prepare(`SELECT count(*) AS n FROM (${rows.sql} LIMIT ?+0)`).get(...rows.parameters, most + 1)
    return Number(row?.['n']) <= most
  }

  #isFew(source: Source): boolean {
    return this.#count(source, tellingAtMost) < tellingAtMost
  }

  #list(source: Source, limit: number, offset: number, isAscending: boolean): readonly number[] {
    const order = isAscending ? 'ASC' : 'DESC'
    const statement = this.#db.prepare(`SELECT ${source.rid} AS rid ${source.from} ORDER BY ${source.rid} ${order} LIMIT ?+0 OFFSET ?+0`)
    return statement.all(...source.parameters, limit, offset).map(({ rid }) => Number(rid))
  }

  #count(source: Source, limit: number): number {
    const row = this.#db.prepare(`SELECT count(*) AS n FROM (SELECT 1 ${source.from} LIMIT ?+0)`).get(...source.parameters, limit)
    return Number(row?.['n'])
  }

  /** Best first; hits with equal scores, or with common words only, newest first. */
  #ranked(
    rids: readonly number[],
    { scored, isAllScored }: CompiledQuery,
  ): { readonly rids: readonly number[]; readonly isRanked: boolean } {
    const telling = scored.filter(fts => this.#isFew({ from: 'FROM fts WHERE fts MATCH ?', rid: 'fts.rowid', parameters: [fts] }))
    if (telling.length === 0) return { rids, isRanked: scored.length === 0 }
    const scores = new Map<number, number>()
    for (const row of this.#db
      .prepare(`SELECT rowid AS rid, ${rank} AS score FROM fts WHERE fts MATCH ?`)
      .iterate(isAllScored ? allOf(telling) : anyOf(telling))) {
      scores.set(Number(row['rid']), Number(row['score']))
    }
    const score = (rid: number): number => scores.get(rid) ?? 0
    return { rids: [...rids].sort((a, b) => score(a) - score(b) || b - a), isRanked: true }
  }

  /** By a metadata field: walks its values in order as far as needed, then the entries without a value, newest first. */
  #sorted(source: Source, by: string, isAscending: boolean, from: number, size: number): readonly number[] {
    const isText = isFixedField(by) || isPlace(by)
    const fields = isText ? [] : this.#vocabulary.fields(metadataPath(by)).filter(({ type }) => type !== 'text')
    if (fields.length === 0)
      throw new InvalidQuery(`Results cannot be sorted by ${by}; use score, created, or a metadata field that is a number or a date`)
    const ids = fields.map(({ id }) => id)
    const rids = `SELECT ${source.rid} ${source.from}`
    const isFew = this.#isFew(source)
    const walk = this.#db.prepare(
      `SELECT doc FROM value WHERE ${isFew ? '+' : ''}field IN (${ids.join(', ')}) AND ${isFew ? '' : '+'}doc IN (${rids}) ORDER BY v ${isAscending ? 'ASC' : 'DESC'}, doc DESC`,
    )
    const seen = new Set<number>()
    for (const { doc } of walk.iterate(...source.parameters)) {
      seen.add(Number(doc))
      if (seen.size >= from + size) break
    }
    const having = [...seen].slice(from, from + size)
    if (having.length === size) return having
    const without = anyOf(ids.map(id => quote(tokens.has(fieldToken(id)))))
    const rest = extended(source, [{ sql: '$rid NOT IN (SELECT f.rowid FROM fts AS f WHERE f.fts MATCH ?)', parameters: [without] }])
    return [...having, ...this.#list(rest, size - having.length, Math.max(from - seen.size, 0), false)]
  }

  #hits(rids: readonly number[]): SearchHits['hits'] {
    const statement = this.#db.prepare('SELECT id, kind FROM doc WHERE rid = ?')
    return rids.flatMap(rid => {
      const row = statement.get(rid)
      return row ? [{ id: String(row['id']), kind: row['kind'] as SearchHits['hits'][number]['kind'] }] : []
    })
  }
}

const extended = (source: Source, conditions: readonly SqlCondition[]): Source => ({
  ...source,
  from: [source.from, ...conditions.map(({ sql }) => sql.replaceAll('$rid', source.rid))].join(' AND '),
  parameters: [...source.parameters, ...conditions.flatMap(({ parameters }) => parameters)],
})
