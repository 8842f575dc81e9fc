import type { DatabaseSync } from 'node:sqlite'
import type { SearchScope } from 'pounce/sdk'
import { anyOfMany, quote, type SqlCondition } from './condition.ts'
import { tokens } from './tokens.ts'

/** What of the index a request is about. */
export interface Limits {
  readonly permitted: string
  readonly scope: SearchScope
  readonly kinds?: readonly string[]
}

/** What the caller may see, as an expression; undefined when that is nothing. */
export function permittedBy(scope: SearchScope): string | undefined {
  if (scope.all) return quote(tokens.all)
  const permits = [
    ...scope.spaces.map(tokens.space),
    ...(scope.author === undefined ? [] : [tokens.author(scope.author)]),
    ...(scope.includePublic ? [tokens.isPublic] : []),
  ]
  return permits.length === 0 ? undefined : anyOfMany(permits.map(token => quote(token)))
}

/** The same rule, and the kinds, for entries that are looked at one by one; none where everything may be seen. */
export function rightsInSql({ scope, kinds }: Limits): readonly SqlCondition[] {
  const ofKinds = kinds ? [{ sql: 'd.kind IN (SELECT value FROM json_each(?))', parameters: [JSON.stringify(kinds)] }] : []
  if (scope.all) return ofKinds
  const ofAuthor = scope.author === undefined ? [] : ['d.author = ?']
  const permits = [...(scope.includePublic ? ['d.public = 1'] : []), ...ofAuthor, 'is_in_scope(d.spaces)']
  return [{ sql: `(${permits.join(' OR ')})`, parameters: scope.author === undefined ? [] : [scope.author] }, ...ofKinds]
}

/**
 * The function `is_in_scope` of a connection: whether the spaces of an entry, as JSON, have one of the spaces a caller may see in. Many entries
 * have the same spaces, so each list is read once per search.
 */
export class ScopeFunction {
  #spaces: ReadonlySet<string> = new Set()
  readonly #known = new Map<string, number>()

  constructor(db: DatabaseSync) {
    db.function('is_in_scope', { deterministic: true }, spaces => this.#isIn(String(spaces)))
  }

  /** From now on the function is about this scope. */
  use(scope: SearchScope): void {
    this.#spaces = new Set(scope.all ? [] : scope.spaces)
    this.#known.clear()
  }

  #isIn(spaces: string): number {
    const known = this.#known.get(spaces)
    if (known !== undefined) return known
    const found = (JSON.parse(spaces) as readonly string[]).some(space => this.#spaces.has(space)) ? 1 : 0
    this.#known.set(spaces, found)
    return found
  }
}
