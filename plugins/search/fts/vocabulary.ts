import type { FieldType } from './index-entry.ts'
import { InvalidQuery } from './invalid-query.ts'
import type { PreparedStatements } from './prepared-statements.ts'

export interface KnownField {
  readonly id: number
  readonly type: FieldType
  /** True when no document ever had more than one value of it. */
  readonly isSingle: boolean
}

/** Facts about words and fields of the index that a query needs. */
export interface Vocabulary {
  /** Words with this prefix, at most `limit`. */
  beginningWith(word: string, limit: number): readonly string[]
  /** Words that match a pattern with `*` and `?` as a whole. Throws `InvalidQuery` when there are too many. */
  matching(pattern: string): readonly string[]
  /** Words with this prefix that satisfy `fits`. Throws `InvalidQuery` when there are too many. */
  fitting(begin: string, fits: (word: string) => boolean): readonly string[]
  /** Metadata fields whose path equals or ends with this name. */
  fields(name: string): readonly KnownField[]
  /** Metadata fields as above, and those nested in them. */
  fieldsWithin(name: string): readonly KnownField[]
}

const mostMatches = 2000
const mostFields = 500
const afterAllWords = '\u{10ffff}'

/** The vocabulary of an open index. */
export class StoredVocabulary implements Vocabulary {
  readonly #statements: PreparedStatements

  constructor(statements: PreparedStatements) {
    this.#statements = statements
  }

  beginningWith(word: string, limit: number): readonly string[] {
    const rows = this.#statements.rows('SELECT term FROM word WHERE term >= ? AND term < ? LIMIT ?+0', word, word + afterAllWords, limit)
    return rows.map(([term]) => String(term))
  }

  matching(pattern: string): readonly string[] {
    const begin = pattern.slice(0, pattern.search(/[*?]/))
    const sql = 'SELECT term FROM word WHERE term >= ? AND term < ? AND term GLOB ? LIMIT ?+0'
    const rows = this.#statements.rows(sql, begin, begin + afterAllWords, pattern, mostMatches + 1)
    if (rows.length > mostMatches) throw new InvalidQuery(`Too many words match ${pattern}; use a longer prefix`)
    return rows.map(([term]) => String(term))
  }

  fitting(begin: string, fits: (word: string) => boolean): readonly string[] {
    const words: string[] = []
    const all = this.#statements.of('SELECT term FROM word WHERE term >= ? AND term < ?').iterate(begin, begin + afterAllWords)
    for (const { term } of all) {
      if (!fits(String(term))) continue
      if (words.length >= mostMatches) throw new InvalidQuery('Too many words match the regular expression; make it narrower')
      words.push(String(term))
    }
    return words
  }

  fields(name: string): readonly KnownField[] {
    const end = `.${name}`
    return this.#known("substr('.' || name, -length(?)) = ?", [end, end], name)
  }

  fieldsWithin(name: string): readonly KnownField[] {
    return this.#known("instr('.' || name || '.', ?) > 0", [`.${name}.`], name)
  }

  #known(condition: string, parameters: readonly string[], name: string): readonly KnownField[] {
    const sql = `SELECT id, type, many FROM field WHERE docs > 0 AND ${condition} LIMIT ?+0`
    const rows = this.#statements.rows(sql, ...parameters, mostFields + 1)
    if (rows.length > mostFields) throw new InvalidQuery(`Too many metadata fields match ${name}; use a longer path`)
    return rows.map(([id, type, many]) => ({ id: Number(id), type: type as FieldType, isSingle: many === 0 }))
  }
}
