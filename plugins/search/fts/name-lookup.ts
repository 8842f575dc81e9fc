import type { DatabaseSync } from 'node:sqlite'
import type { NameRequest, SearchHits, SearchScope } from 'pounce/sdk/search'
import { wordsOf } from 'pounce/sdk/search'
import { phrase, WordCompiler } from './compile-words.ts'
import { allOf, quote } from './condition.ts'
import { isUnlimited, permittedBy, rightsInSql, type ScopeFunction } from './rights.ts'
import { tokens } from './tokens.ts'
import { StoredVocabulary } from './vocabulary.ts'

/** This many of the newest matches are checked one by one for those that the caller may view; if that yields too few, the index is queried with the rights. */
const lookedAt = 2000

/** Finds resources by name for completion while typing: reads the index from the newest entry until there are enough, without counting. */
export class NameLookup {
  readonly #db: DatabaseSync
  readonly #scope: ScopeFunction
  readonly #words: WordCompiler

  constructor(db: DatabaseSync, scope: ScopeFunction) {
    this.#db = db
    this.#scope = scope
    this.#words = new WordCompiler(new StoredVocabulary(db))
  }

  find({ text, scope, kinds, limit }: NameRequest): SearchHits['hits'] {
    const permitted = permittedBy(scope)
    const words = wordsOf(text)
    if (permitted === undefined || words.length === 0) return []
    this.#scope.use(scope)
    const [single, longer] = [words.filter(isSingle), words.filter(word => !isSingle(word))]
    const named = [...(longer.length > 0 ? [this.#words.inColumn('name', longer)] : []), ...single.map(word => phrase(word, 'name'))]
    return kinds.flatMap(kind => {
      const ofKind = [...named, quote(tokens.kind(kind))]
      const isAll = isUnlimited(scope)
      const newest = this.#newest(allOf(ofKind), isAll ? limit : lookedAt)
      const found = isAll ? newest : this.#permitted(newest, scope, limit)
      const isEnough = found.length === limit || newest.length < lookedAt
      return this.#hits(isAll || isEnough ? found : this.#newest(allOf([...ofKind, permitted]), limit))
    })
  }

  #newest(words: string, limit: number): readonly number[] {
    const rows = this.#db.prepare('SELECT rowid AS rid FROM fts WHERE fts MATCH ? ORDER BY rowid DESC LIMIT ?+0').all(words, limit)
    return rows.map(({ rid }) => Number(rid))
  }

  #permitted(rids: readonly number[], scope: SearchScope, limit: number): readonly number[] {
    const rights = rightsInSql({ scope })
    const where = rights.map(({ sql }) => sql).join(' AND ')
    const rows = this.#db
      .prepare(`SELECT d.rid FROM json_each(?) AS r CROSS JOIN doc AS d ON d.rid = r.value WHERE ${where} LIMIT ?+0`)
      .all(JSON.stringify(rids), ...rights.flatMap(({ parameters }) => parameters), limit)
    return rows.map(({ rid }) => Number(rid))
  }

  #hits(rids: readonly number[]): SearchHits['hits'] {
    const statement = this.#db.prepare('SELECT id, kind FROM doc WHERE rid = ?')
    return rids.flatMap(rid => {
      const row = statement.get(rid)
      return row ? [{ id: String(row['id']), kind: row['kind'] as SearchHits['hits'][number]['kind'] }] : []
    })
  }
}

/** A prefix of one letter matches too many words to merge. */
const isSingle = (word: string): boolean => [...word].length === 1
