import type { DatabaseSync, StatementSync } from 'node:sqlite'

type Value = string | number | null

export type IndexRow = Readonly<Record<string, string | number>>

const maxKept = 200

/** Statements of one connection, kept after their first use: values are bound, never written into the text. */
export class PreparedStatements {
  readonly #db: DatabaseSync
  readonly #known = new Map<string, StatementSync>()

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  of(sql: string): StatementSync {
    let statement = this.#known.get(sql)
    if (!statement) {
      if (this.#known.size >= maxKept) this.#known.clear()
      statement = this.#db.prepare(sql)
      this.#known.set(sql, statement)
    }
    return statement
  }

  get(sql: string, ...values: readonly Value[]): IndexRow | undefined {
    return this.of(sql).get(...values) as IndexRow | undefined
  }

  /** All rows, each a list of its columns. */
  rows(sql: string, ...values: readonly Value[]): readonly (readonly Value[])[] {
    const statement = this.of(sql)
    statement.setReturnArrays(true)
    return statement.all(...values) as unknown as readonly (readonly Value[])[]
  }

  run(sql: string, ...values: readonly Value[]): void {
    this.of(sql).run(...values)
  }
}
