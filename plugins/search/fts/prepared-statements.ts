import type { DatabaseSync, StatementSync } from 'node:sqlite'

type Value = string | number | null

export type IndexRow = Readonly<Record<string, string | number>>

/** Statements of one connection, each prepared once and kept for good: values are bound, never written into the text. */
export class PreparedStatements {
  readonly #db: DatabaseSync
  readonly #known = new Map<string, StatementSync>()

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  of(sql: string): StatementSync {
    let statement = this.#known.get(sql)
    if (!statement) {
      statement = this.#db.prepare(sql)
      this.#known.set(sql, statement)
    }
    return statement
  }

  get(sql: string, ...values: readonly Value[]): IndexRow | undefined {
    return this.of(sql).get(...values) as IndexRow | undefined
  }

  run(sql: string, ...values: readonly Value[]): void {
    this.of(sql).run(...values)
  }
}
