import type { Kind } from 'pounce/sdk'
import { compareText } from 'pounce/sdk/kit'
import type { SearchScope } from 'pounce/sdk/search'
import { allOf, quote, type SqlCondition } from './condition.ts'
import type { PreparedStatements } from './prepared-statements.ts'
import { isUnlimited, permittedBy, rightsInSql, type ScopeFunction } from './rights.ts'
import { anyKind, foldTag } from './tag-counts.ts'
import { tokens } from './tokens.ts'

/** Maximum count. */
const maxCounted = 10_000
/** Up to this many tags with a common prefix are sorted; of more, the most used are read in order. */
const maxSorted = 1000
/** Maximum number of tags beyond the requested ones that are read within limited rights; after that, the entries that the caller may view are counted. */
const walkedBeyond = 1000
/** Up to this many entries are checked one by one. */
const maxScannedEntries = 5000
const afterAll = '\u{10ffff}'

interface TagCount {
  readonly tag: string
  readonly count: number
}

interface TagRequest {
  readonly prefix: string
  readonly scope: SearchScope
  readonly limit: number
  readonly kind?: Kind
}

/** Tags by prefix, most used first, counted within the caller's rights. */
export class TagSuggestions {
  readonly #scope: ScopeFunction
  readonly #statements: PreparedStatements

  constructor(statements: PreparedStatements, scope: ScopeFunction) {
    this.#statements = statements
    this.#scope = scope
  }

  find(task: TagRequest): readonly TagCount[] {
    const permitted = permittedBy(task.scope)
    if (permitted === undefined || !task.prefix.isWellFormed()) return []
    this.#scope.use(task.scope)
    const found = this.#mostUsed(task) ?? this.#ofVisible(task, permitted)
    return found.map(({ tag, count }) => ({ tag, count: Math.min(count, maxCounted) }))
  }

  /** A caller cannot view more entries with a tag than exist, so reading ends at the first tag with too few. Undefined when it takes too long. */
  #mostUsed({ prefix, scope, limit, kind }: TagRequest): readonly TagCount[] | undefined {
    const begin = foldTag(prefix)
    const named = [kind ?? anyKind, begin, begin + afterAll] as const
    const countOf = isUnlimited(scope) ? undefined : this.#visibleCounts(scope, kind)
    const top = new MostUsed(limit)
    const take = (tag: string, docs: number): void => top.add(tag, countOf ? countOf(tag) : docs)
    if (!this.#isMany(named)) {
      const sorted = this.#statements
        .of('SELECT tag, docs FROM tag_total WHERE kind = ? AND folded >= ? AND folded < ? ORDER BY docs DESC, tag')
        .iterate(...named)
      for (const { tag, docs } of sorted) {
        if (!top.wants(String(tag), Number(docs))) break
        take(String(tag), Number(docs))
      }
      return top.found
    }
    let walked = 0
    for (const docs of this.#counts(named[0])) {
      if (!top.wants('', docs)) break
      for (const tag of this.#usedBy(docs, named, top)) {
        take(tag, docs)
        walked += 1
        if (countOf && walked > limit + walkedBeyond) return undefined
      }
    }
    return top.found
  }

  #isMany(named: readonly [string, string, string]): boolean {
    const count = 'SELECT count(*) AS n FROM (SELECT 1 FROM tag_total WHERE kind = ? AND folded >= ? AND folded < ? LIMIT ?+0)'
    return Number(this.#statements.get(count, ...named, maxSorted + 1)?.['n']) > maxSorted
  }

  /** The distinct numbers of entries per tag, largest first. */
  *#counts(kind: string): Generator<number> {
    const next = this.#statements.of('SELECT max(docs) AS docs FROM tag_total WHERE kind = ? AND docs < ?')
    for (let docs: unknown = Number.MAX_SAFE_INTEGER; ; ) {
      docs = next.get(kind, Number(docs))?.['docs']
      if (typeof docs !== 'number') return
      yield docs
    }
  }

  /** Tags with exactly this number of entries, while `top` accepts them. Tags in lower case are ordered by the index, the others are sorted. */
  *#usedBy(docs: number, [kind, begin, end]: readonly [string, string, string], top: MostUsed): Generator<string> {
    const range = 'SELECT tag FROM tag_total WHERE kind = ? AND docs = ? AND cased = ? AND folded >= ? AND folded < ? ORDER BY'
    for (const [cased, order] of [
      [0, 'folded'],
      [1, 'tag'],
    ] as const) {
      for (const { tag } of this.#statements.of(`${range} ${order}`).iterate(kind, docs, cased, begin, end)) {
        if (!top.wants(String(tag), docs)) break
        yield String(tag)
      }
    }
  }

  /** Returns a function that counts the entries with a tag that the caller may view. */
  #visibleCounts(scope: SearchScope, kind: Kind | undefined): (tag: string) => number {
    const conditions = rightsInSql({ scope, ...(kind === undefined ? {} : { kinds: [kind] }) })
    const sum = this.#statements.of(
      `SELECT sum(a.docs) AS n FROM tag_audience AS a CROSS JOIN audience AS d ON d.id = a.audience WHERE a.tag = ?${andAll(conditions)}`,
    )
    const parameters = conditions.flatMap(condition => condition.parameters)
    return tag => Number(sum.get(tag, ...parameters)?.['n'] ?? 0)
  }

  /** Counts the tags of everything that the caller may view. */
  #ofVisible({ prefix, limit, kind }: TagRequest, permitted: string): readonly TagCount[] {
    const words = kind === undefined ? permitted : allOf([permitted, quote(tokens.kind(kind))])
    const entries = this.#statements
      .of('SELECT count(*) AS n FROM (SELECT 1 FROM fts WHERE fts MATCH ? LIMIT ?+0)')
      .get(words, maxScannedEntries + 1)
    const tagged =
      Number(entries?.['n']) > maxScannedEntries
        ? 'tag AS t WHERE t.doc IN (SELECT rowid FROM fts WHERE fts MATCH ?)'
        : 'fts CROSS JOIN tag AS t ON t.doc = fts.rowid WHERE fts MATCH ?'
    const rows = this.#statements.of(`SELECT t.tag, count(*) AS n FROM ${tagged} GROUP BY t.tag ORDER BY n DESC, t.tag`).iterate(words)
    const found: TagCount[] = []
    for (const { tag, n } of rows) {
      if (found.length >= limit) break
      if (foldTag(String(tag)).startsWith(foldTag(prefix))) found.push({ tag: String(tag), count: Number(n) })
    }
    return found
  }
}

const andAll = (conditions: readonly SqlCondition[]): string => conditions.map(({ sql }) => ` AND ${sql}`).join('')

/** The most used of the added tags, in order. */
class MostUsed {
  readonly found: TagCount[] = []
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  /** False when a tag with this count would not be among the most used. */
  wants(tag: string, count: number): boolean {
    const last = this.found[this.#limit - 1]
    return this.#limit > 0 && (last === undefined || isBefore({ tag, count }, last))
  }

  add(tag: string, count: number): void {
    if (count === 0 || !this.wants(tag, count)) return
    let [from, to] = [0, this.found.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if (isBefore({ tag, count }, this.found[middle] as TagCount)) to = middle
      else from = middle + 1
    }
    this.found.splice(from, 0, { tag, count })
    if (this.found.length > this.#limit) this.found.pop()
  }
}

const isBefore = (a: TagCount, b: TagCount): boolean => a.count > b.count || (a.count === b.count && compareText(a.tag, b.tag) < 0)
