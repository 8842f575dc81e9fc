import type { FieldType } from './index-entry.ts'
import { InvalidQuery } from './invalid-query.ts'
import type { PreparedStatements } from './prepared-statements.ts'
import { fieldToken, tokens } from './tokens.ts'

export interface KnownField {
  readonly id: number
  readonly type: FieldType
  /** True when no document ever had more than one value of it. */
  readonly isSingle: boolean
}

/** Statistics of words and fields of the index that a query needs. */
export interface Vocabulary {
  /** Words with this prefix, at most `limit`. */
  beginningWith(word: string, limit: number): readonly string[]
  /** Words that match a pattern with `*` and `?` as a whole. Throws `InvalidQuery` when too many of them are visible. */
  matching(pattern: string): readonly string[]
  /** Words with this prefix that satisfy `fits`. Throws `InvalidQuery` when too many of them are visible. */
  fitting(begin: string, fits: (word: string) => boolean): readonly string[]
  /** Metadata fields whose path equals or ends with this name. Of very many only visible ones: the path itself, and the most used. */
  fields(name: string): readonly KnownField[]
  /** Metadata fields as above, and those nested in them. */
  fieldsWithin(name: string): readonly KnownField[]
  /** The first `limit` of these words that are in an entry that the caller may view. */
  visible(words: readonly string[], limit: number): readonly string[]
}

const maxMatches = 2000
const maxFields = 500
/** Maximum number of words or fields that are checked for whether the caller may view an entry with them. */
const maxChecked = 10_000
const afterAllWords = '\u{10ffff}'

/** The vocabulary of an open index, for a caller. */
export class StoredVocabulary implements Vocabulary {
  readonly #statements: PreparedStatements
  readonly #permitted: string

  /** `permitted`: what the caller may view, as an expression. */
  constructor(statements: PreparedStatements, permitted: string) {
    this.#statements = statements
    this.#permitted = permitted
  }

  beginningWith(word: string, limit: number): readonly string[] {
    const rows = this.#statements.rows('SELECT term FROM word WHERE term >= ? AND term < ? LIMIT ?+0', word, word + afterAllWords, limit)
    return rows.map(([term]) => String(term))
  }

  matching(pattern: string): readonly string[] {
    const begin = pattern.slice(0, pattern.search(/[*?]/))
    const sql = 'SELECT term FROM word WHERE term >= ? AND term < ? AND term GLOB ? LIMIT ?+0'
    const rows = this.#statements.rows(sql, begin, begin + afterAllWords, pattern, maxChecked + 1)
    const words = rows.map(([term]) => String(term))
    return this.#few(words, `Too many words match ${pattern}; use a longer prefix`)
  }

  fitting(begin: string, fits: (word: string) => boolean): readonly string[] {
    const words: string[] = []
    const all = this.#statements.of('SELECT term FROM word WHERE term >= ? AND term < ?').iterate(begin, begin + afterAllWords)
    for (const { term } of all) {
      if (!fits(String(term))) continue
      words.push(String(term))
      if (words.length > maxChecked) break
    }
    return this.#few(words, 'Too many words match the regular expression; make it narrower')
  }

  fields(name: string): readonly KnownField[] {
    const end = `.${name}`
    return this.#known("substr('.' || name, -length(?)) = ?", [end, end], name)
  }

  fieldsWithin(name: string): readonly KnownField[] {
    return this.#known("instr('.' || name || '.', ?) > 0", [`.${name}.`], name)
  }

  visible(words: readonly string[], limit: number): readonly string[] {
    const sql = `SELECT w.value FROM json_each(?) AS w WHERE EXISTS (SELECT 1 FROM fts AS f WHERE f.fts MATCH '"' || w.value || '"'
      AND +f.rowid IN (SELECT rowid FROM fts WHERE fts MATCH ?)) LIMIT ?+0`
    return this.#statements.rows(sql, JSON.stringify(words), this.#permitted, limit).map(([word]) => String(word))
  }

  /** Those words that the caller may view, if there are very many. */
  #few(words: readonly string[], refusal: string): readonly string[] {
    if (words.length <= maxMatches) return words
    const visible = words.length > maxChecked ? words : this.visible(words, maxMatches + 1)
    if (visible.length > maxMatches) throw new InvalidQuery(refusal)
    return visible
  }

  #known(condition: string, parameters: readonly string[], name: string): readonly KnownField[] {
    const sql = `SELECT id, type, many FROM field WHERE docs > 0 AND ${condition} ORDER BY name = ? DESC, docs DESC, id LIMIT ?+0`
    const rows = this.#statements.rows(sql, ...parameters, name, maxChecked)
    const fields = rows.map(([id, type, many]) => ({ id: Number(id), type: type as FieldType, isSingle: many === 0 }))
    if (fields.length <= maxFields) return fields
    const visible = new Set(this.visible(fields.map(has), maxFields))
    return fields.filter(field => visible.has(has(field)))
  }
}

const has = ({ id }: KnownField): string => tokens.has(fieldToken(id))
