import { Invalid, s } from 'pounce/sdk'
import { readTime, type Verb } from 'pounce/sdk/kit'
import type { KeyRecord } from '../collections.ts'

/** The scope, limits and expiry of a key. */
export type KeyReach = Pick<KeyRecord, 'scope' | 'verbs' | 'spaces' | 'expires'>

const scopes = ['full', 'extraction'] as const
const verbs: readonly Verb[] = ['read', 'write', 'delete', 'manage']
const maxSpaces = 100

/** The scope and limits of a key as text, the same in a query and on the command line. */
export interface ReachWords {
  readonly scope?: string | undefined
  readonly verbs?: string | undefined
  readonly spaces?: string | undefined
  readonly expires?: string | undefined
}

/** Query parameters for the scope and limits of a key. Spread into a route's `query`. */
export const reachParameters = {
  scope: s.Optional(s.Union([s.Literal('full'), s.Literal('extraction')], { description: 'Default `full` (an addition to Clowder 1.x)' })),
  verbs: s.Optional(
    s.String({
      maxLength: 100,
      description: 'Limit to these verbs: `read`, `write`, `delete`, `manage`, separated by commas (an addition)',
    }),
  ),
  spaces: s.Optional(
    s.String({ maxLength: 25 * maxSpaces, description: 'Limit to these spaces: up to 100 ids, separated by commas (an addition)' }),
  ),
  expires: s.Optional(s.String({ maxLength: 40, description: 'Expiry, such as `2027-06-30` or `2027-06-30T12:00:00Z` (an addition)' })),
}

/** The ids in `spaces`. */
export const spacesIn = (text: string | undefined): readonly string[] => (text === undefined ? [] : wordsIn(text))

/** Parses the texts; throws `Invalid` naming the wrong one. An empty list of verbs or spaces is an error and does not mean all. */
export const reachFrom = ({ scope = 'full', verbs: verbText, spaces: spaceText, expires }: ReachWords): KeyReach => {
  const known = scopes.find(each => each === scope)
  if (known === undefined) throw new Invalid('scope must be full or extraction')
  return {
    scope: known,
    ...(verbText === undefined ? {} : { verbs: verbsIn(verbText) }),
    ...(spaceText === undefined ? {} : { spaces: idsIn(spaceText) }),
    ...(expires === undefined ? {} : { expires: momentOf(expires) }),
  }
}

const wordsIn = (text: string): readonly string[] => [...new Set(text.split(',').map(word => word.trim()))].filter(word => word !== '')

const verbsIn = (text: string): readonly Verb[] => {
  const words = wordsIn(text)
  const found = verbs.filter(verb => words.includes(verb))
  if (found.length === 0 || found.length !== words.length)
    throw new Invalid('verbs must be one or more of read, write, delete and manage, separated by commas')
  return found
}

const idsIn = (text: string): readonly string[] => {
  const ids = wordsIn(text)
  if (ids.length === 0 || ids.length > maxSpaces || !ids.every(s.isId))
    throw new Invalid('spaces must be 1 to 100 ids of spaces, separated by commas')
  return ids
}

const momentOf = (text: string): string => new Date(readTime(text, 'expires')).toISOString()
