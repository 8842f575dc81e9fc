import type { PreparedStatements } from './prepared-statements.ts'

/** Stands for all kinds in `tag_total`. */
export const anyKind = ''

/** The form in which a tag is compared with a prefix. SQLite folds the case of A to Z only. */
export const foldTag = (tag: string): string => tag.toLowerCase()

/**
 * Number of entries with each tag: in total, per kind, and per audience. Entries with the same kind, author, spaces and visibility have one
 * audience, so what a caller may view of a tag is a sum over few rows. Calls belong inside the transaction that changes the entry.
 */
export class TagCounts {
  readonly #statements: PreparedStatements

  constructor(statements: PreparedStatements) {
    this.#statements = statements
  }

  /** Adds tags to the entry in that row of `doc`. */
  add(rid: number, tags: ReadonlySet<string>): void {
    if (tags.size === 0) return
    this.#statements.run(
      'INSERT OR IGNORE INTO audience (kind, author, public, spaces) SELECT kind, author, public, spaces FROM doc WHERE rid = ?',
      rid,
    )
    const { audience, kind } = this.#audienceOf(rid)
    for (const tag of tags) {
      const folded = foldTag(tag)
      this.#statements.run('INSERT INTO tag VALUES (?, ?)', tag, rid)
      this.#statements.run('INSERT INTO tag_audience VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET docs = docs + 1', tag, audience)
      for (const each of [anyKind, kind]) {
        const total = [each, tag, folded, folded === tag ? 0 : 1] as const
        this.#statements.run('INSERT INTO tag_total VALUES (?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET docs = docs + 1', ...total)
      }
    }
  }

  /** Removes all tags from the entry, whose row in `doc` must be unchanged since they were added. */
  remove(rid: number): void {
    const tags = this.#statements.of('SELECT tag FROM tag WHERE doc = ?').all(rid)
    if (tags.length === 0) return
    const { audience, kind } = this.#audienceOf(rid)
    for (const { tag } of tags) {
      this.#statements.run('UPDATE tag_audience SET docs = docs - 1 WHERE tag = ? AND audience = ?', String(tag), audience)
      this.#statements.run('DELETE FROM tag_audience WHERE tag = ? AND audience = ? AND docs = 0', String(tag), audience)
      for (const each of [anyKind, kind]) {
        this.#statements.run('UPDATE tag_total SET docs = docs - 1 WHERE kind = ? AND tag = ?', each, String(tag))
        this.#statements.run('DELETE FROM tag_total WHERE kind = ? AND tag = ? AND docs = 0', each, String(tag))
      }
    }
    this.#statements.run('DELETE FROM tag WHERE doc = ?', rid)
  }

  #audienceOf(rid: number): { readonly audience: number; readonly kind: string } {
    const found = this.#statements
      .of(
        `SELECT a.id, a.kind FROM doc AS d CROSS JOIN audience AS a
        ON a.kind = d.kind AND a.author = d.author AND a.public = d.public AND a.spaces = d.spaces WHERE d.rid = ?`,
      )
      .get(rid)
    return { audience: Number(found?.['id']), kind: String(found?.['kind']) }
  }
}
