import type { NameRequest, SearchHits, SearchScope } from 'pounce/sdk/search'
import { wordsOf } from 'pounce/sdk/search'
import { phrase, WordCompiler } from './compile-words.ts'
import { allOf, quote } from './condition.ts'
import type { PreparedStatements } from './prepared-statements.ts'
import { isUnlimited, permittedBy, rightsInSql, type ScopeFunction } from './rights.ts'
import { hitsOf } from './run-search.ts'
import { tokens } from './tokens.ts'
import { StoredVocabulary } from './vocabulary.ts'

/** This many of the newest matches are checked one by one for those that the caller may view; if that yields too few, the index is queried with the rights. */
const lookedAt = 2000

/** Finds resources by name for completion while typing: reads the index from the newest entry until there are enough, without counting. */
export class NameLookup {
  readonly #statements: PreparedStatements
  readonly #scope: ScopeFunction

  constructor(statements: PreparedStatements, scope: ScopeFunction) {
    this.#statements = statements
    this.#scope = scope
  }

  find({ text, scope, kinds, limit }: NameRequest): SearchHits['hits'] {
    const permitted = permittedBy(scope)
    const words = wordsOf(text)
    if (permitted === undefined || words.length === 0) return []
    this.#scope.use(scope)
    const compiler = new WordCompiler(new StoredVocabulary(this.#statements, permitted))
    const [single, longer] = [words.filter(isSingle), words.filter(word => !isSingle(word))]
    const named = [...(longer.length > 0 ? [compiler.inColumn('name', longer).fts] : []), ...single.map(word => phrase(word, 'name'))]
    return kinds.flatMap(kind => {
      const ofKind = [...named, quote(tokens.kind(kind))]
      const isAll = isUnlimited(scope)
      const newest = this.#newest(allOf(ofKind), isAll ? limit : lookedAt)
      const found = isAll ? newest : this.#permitted(newest, scope, limit)
      const isEnough = found.length === limit || newest.length < lookedAt
      return hitsOf(this.#statements, isAll || isEnough ? found : this.#newest(allOf([...ofKind, permitted]), limit))
    })
  }

  #newest(words: string, limit: number): readonly number[] {
    const rows = this.#statements.rows('SELECT rowid FROM fts WHERE fts MATCH ? ORDER BY rowid DESC LIMIT ?+0', words, limit)
    return rows.map(([rid]) => Number(rid))
  }

  #permitted(rids: readonly number[], scope: SearchScope, limit: number): readonly number[] {
    const rights = rightsInSql({ scope })
    const where = rights.map(({ sql }) => sql).join(' AND ')
    const rows = this.#statements.rows(
      `SELECT d.rid FROM json_each(?) AS r CROSS JOIN doc AS d ON d.rid = r.value WHERE ${where} LIMIT ?+0`,
      JSON.stringify(rids),
      ...rights.flatMap(({ parameters }) => parameters),
      limit,
    )
    return rows.map(([rid]) => Number(rid))
  }
}

/** A prefix of one letter matches too many words to merge. */
const isSingle = (word: string): boolean => [...word].length === 1
