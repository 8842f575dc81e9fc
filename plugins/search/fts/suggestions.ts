import { compareText } from 'pounce/sdk/kit'
import type { FieldCount, SearchScope, ValueCount } from 'pounce/sdk/search'
import { comparableText } from 'pounce/sdk/search'
import { metadataPath } from './compile-query.ts'
import { allOf, quote } from './condition.ts'
import type { FieldType } from './index-entry.ts'
import type { PreparedStatements } from './prepared-statements.ts'
import { permittedBy } from './rights.ts'
import { fieldToken, tokens } from './tokens.ts'
import { type KnownField, StoredVocabulary } from './vocabulary.ts'

/** Maximum count. */
const maxCounted = 10_000
/** Up to this many entries are checked one by one. */
const maxScannedEntries = 5000
/** In a larger index, only this many of the most used fields are counted. */
const maxFields = 300
/** Maximum number of values read. */
const maxValues = 200_000
const afterAll = '\u{10ffff}'

/** Suggestions while typing, counted within the caller's rights. */
export class Suggestions {
  readonly #statements: PreparedStatements

  constructor(statements: PreparedStatements) {
    this.#statements = statements
  }

  fields(prefix: string, scope: SearchScope, limit: number): readonly FieldCount[] {
    const permitted = permittedBy(scope)
    if (permitted === undefined) return []
    const begin = comparableText(metadataPath(prefix))
    const known = this.#statements
      .of('SELECT name, group_concat(id) AS ids, sum(docs) AS docs FROM field GROUP BY name HAVING sum(docs) > 0 ORDER BY sum(docs) DESC')
      .all()
      .map(({ name, ids }) => ({ field: String(name), ids: String(ids).split(',').map(Number) }))
      .filter(({ field }) => `.${comparableText(field)}`.includes(`.${begin}`))
    const counts = this.#fieldCounts(known, permitted)
    return known
      .map(({ field }) => ({ field, count: counts.get(field) ?? 0 }))
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count || compareText(a.field, b.field))
      .slice(0, limit)
  }

  values(field: string, prefix: string, scope: SearchScope, limit: number): readonly ValueCount[] {
    const permitted = permittedBy(scope)
    if (permitted === undefined) return []
    const known = new StoredVocabulary(this.#statements, permitted).fields(metadataPath(field))
    return [...Map.groupBy(known, ({ type }) => type)]
      .flatMap(([type, fields]) => this.#valuesOf(type, fields, comparableText(prefix), permitted))
      .sort((a, b) => b.count - a.count || compareText(textOf(a.value), textOf(b.value)))
      .slice(0, limit)
  }

  #fieldCounts(known: readonly { readonly field: string; readonly ids: readonly number[] }[], permitted: string): Map<string, number> {
    const names = new Map(known.flatMap(({ field, ids }) => ids.map(id => [id, field] as const)))
    const counts = new Map<string, number>()
    const entries = this.#statements
      .of('SELECT d.fields FROM fts CROSS JOIN doc AS d ON d.rid = fts.rowid WHERE fts MATCH ? LIMIT ?+0')
      .all(permitted, maxScannedEntries + 1)
    if (entries.length <= maxScannedEntries) {
      for (const entry of entries) {
        const ids = JSON.parse(String(entry['fields'])) as readonly number[]
        for (const name of new Set(ids.map(id => names.get(id)))) if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1)
      }
      return counts
    }
    for (const { field, ids } of known.slice(0, maxFields)) {
      const has = ids.map(id => quote(tokens.has(fieldToken(id)))).join(' OR ')
      counts.set(field, this.#count(allOf([`(${has})`, permitted])))
    }
    return counts
  }

  #count(words: string): number {
    const row = this.#statements.get('SELECT count(*) AS n FROM (SELECT 1 FROM fts WHERE fts MATCH ? LIMIT ?+0)', words, maxCounted)
    return Number(row?.['n'] ?? 0)
  }

  /** Values of the fields of one type: fields of different types have no value in common. */
  #valuesOf(type: FieldType, fields: readonly KnownField[], begin: string, permitted: string): ValueCount[] {
    const ids = JSON.stringify(fields.map(({ id }) => id))
    const ranged = type === 'text' ? 'AND v >= ? AND v < ?' : ''
    const rows = this.#statements
      .of(
        `SELECT v, min(coalesce(shown, v)) AS shown, count(DISTINCT doc) AS n FROM (SELECT v, shown, doc FROM value
          WHERE field IN (SELECT value FROM json_each(?)) ${ranged} AND doc IN (SELECT rowid FROM fts WHERE fts MATCH ?) LIMIT ?+0)
          GROUP BY v ORDER BY n DESC, v`,
      )
      .all(ids, ...(type === 'text' ? [begin, begin + afterAll] : []), permitted, maxValues)
    return rows
      .map(({ v, shown, n }) => {
        const value = type === 'text' ? String(shown) : type === 'date' ? new Date(Number(v)) : Number(v)
        return { value, count: Math.min(Number(n), maxCounted) }
      })
      .filter(({ value }) => comparableText(textOf(value)).startsWith(begin))
  }
}

const textOf = (value: ValueCount['value']): string => (value instanceof Date ? value.toISOString() : String(value))
