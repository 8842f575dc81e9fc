import type { DatabaseSync } from 'node:sqlite'
import type { SearchScope } from 'pounce/sdk/search'
import { allOf, anyOf, anyOfMany, quote, type SqlCondition } from './condition.ts'
import { tokens } from './tokens.ts'

/** The scope of a request. */
export interface Limits {
  readonly permitted: string
  readonly scope: SearchScope
  readonly kinds?: readonly string[]
}

/** What the caller may view, as an expression; undefined when that is nothing. */
export function permittedBy(scope: SearchScope): string | undefined {
  if (scope.all) return withoutHidden(quote(tokens.all), scope)
  const { author, closedKinds = [], inPart = [], within } = scope
  const closed = closedKinds.map(kind => quote(tokens.kind(kind)))
  const permits = [
    ...scope.spaces.map(space => quote(tokens.space(space))),
    ...(author === undefined ? [] : [quote(tokens.author(author))]),
    ...(scope.includePublic ? [closed.length === 0 ? quote(tokens.isPublic) : `(${quote(tokens.isPublic)} NOT ${anyOf(closed)})`] : []),
    ...inPart.filter(isSome).map(({ kinds, spaces }) => allOf([anyOf(kinds.map(kind => quote(tokens.kind(kind)))), anySpace(spaces)])),
  ]
  if (permits.length === 0 || within?.length === 0) return undefined
  return allOf([anyOfMany(permits), ...(within ? [anySpace(within)] : [])])
}

/** Restricts an expression to what a caller may view who may view everything except some files outside datasets. */
export function withoutHidden(expression: string, scope: SearchScope): string {
  if (!scope.all || scope.unplaced === undefined) return expression
  const { author } = scope.unplaced
  const unplaced = quote(tokens.isUnplaced)
  return `(${expression} NOT ${author === undefined ? unplaced : `(${unplaced} NOT ${quote(tokens.author(author))})`})`
}

/** The caller may view every entry. */
export const isUnlimited = (scope: SearchScope): boolean => scope.all && scope.unplaced === undefined

const isSome = ({ kinds, spaces }: { readonly kinds: readonly string[]; readonly spaces: readonly string[] }): boolean =>
  kinds.length > 0 && spaces.length > 0

const anySpace = (spaces: readonly string[]): string => anyOfMany(spaces.map(space => quote(tokens.space(space))))

/** The same rule, and the kinds, for entries checked one by one; undefined where everything is visible. */
export function rightsInSql({ scope, kinds }: Pick<Limits, 'scope' | 'kinds'>): readonly SqlCondition[] {
  const ofKinds = kinds ? [{ sql: isOfKind, parameters: [JSON.stringify(kinds)] }] : []
  if (scope.all) {
    if (scope.unplaced === undefined) return ofKinds
    return [{ sql: "(d.kind <> 'file' OR d.spaces <> '[]' OR d.author = ?)", parameters: [scope.unplaced.author ?? ''] }, ...ofKinds]
  }
  const { author, closedKinds = [], inPart = [], within } = scope
  const permits = [
    ...(scope.includePublic ? [{ sql: `(d.public = 1 AND NOT ${isOfKind})`, parameters: [JSON.stringify(closedKinds)] }] : []),
    ...(author === undefined ? [] : [{ sql: 'd.author = ?', parameters: [author] }]),
    { sql: `is_in_scope(d.spaces, ${lists.spaces})`, parameters: [] },
    ...inPart.map((part, at) => ({
      sql: `(${isOfKind} AND is_in_scope(d.spaces, ${lists.parts + at}))`,
      parameters: [JSON.stringify(part.kinds)],
    })),
  ]
  const permitted = { sql: `(${permits.map(({ sql }) => sql).join(' OR ')})`, parameters: permits.flatMap(({ parameters }) => parameters) }
  const isWithin = { sql: `is_in_scope(d.spaces, ${lists.within})`, parameters: [] }
  return [permitted, ...(within ? [isWithin] : []), ...ofKinds]
}

const isOfKind = 'd.kind IN (SELECT value FROM json_each(?))'

/** Selects a list of spaces of a scope. */
const lists = { spaces: 0, within: 1, parts: 2 } as const

/**
 * The SQL function `is_in_scope` of a connection: whether the spaces of an entry, as JSON, include one of a scope's list of spaces. Many entries
 * have the same spaces, so each list is parsed once per search.
 */
export class ScopeFunction {
  #lists: readonly ReadonlySet<string>[] = []
  readonly #known = new Map<string, number>()

  constructor(db: DatabaseSync) {
    db.function('is_in_scope', { deterministic: true }, (spaces, list) => this.#isIn(String(spaces), Number(list)))
  }

  /** Sets the scope used by the function. */
  use(scope: SearchScope): void {
    const all = scope.all ? [] : [scope.spaces, scope.within ?? [], ...(scope.inPart ?? []).map(({ spaces }) => spaces)]
    this.#lists = all.map(spaces => new Set(spaces))
    this.#known.clear()
  }

  #isIn(spaces: string, list: number): number {
    const key = `${list}${spaces}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const found = (JSON.parse(spaces) as readonly string[]).some(space => this.#lists[list]?.has(space)) ? 1 : 0
    this.#known.set(key, found)
    return found
  }
}
