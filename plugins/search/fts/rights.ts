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

/** The same rule, and the kinds, for entries that are looked at one by one. */
export function rightsInSql({ scope, kinds }: Limits): SqlCondition {
  const ofKinds = kinds ? ['d.kind IN (SELECT value FROM json_each(?))'] : []
  const kindParameters = kinds ? [JSON.stringify(kinds)] : []
  if (scope.all) return { sql: ['1', ...ofKinds].join(' AND '), parameters: kindParameters }
  const inSpaces = 'EXISTS (SELECT 1 FROM json_each(d.spaces) AS s WHERE s.value IN (SELECT value FROM json_each(?)))'
  const permits = [inSpaces, ...(scope.author === undefined ? [] : ['d.author = ?']), ...(scope.includePublic ? ['d.public = 1'] : [])]
  const parameters = [JSON.stringify(scope.spaces), ...(scope.author === undefined ? [] : [scope.author]), ...kindParameters]
  return { sql: [`(${permits.join(' OR ')})`, ...ofKinds].join(' AND '), parameters }
}
