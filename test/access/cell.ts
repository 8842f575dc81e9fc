import { accountOf, type CallerName } from './callers.ts'
import type { Expected, Slot, Standing } from './cells.ts'
import type { MatrixRoute } from './routes.ts'
import type { ThingKind } from './things.ts'
import type { State, World } from './world.ts'

/** One request of the matrix. */
export interface Cell {
  readonly route: MatrixRoute
  readonly address: MatrixRoute['addresses'][number]
  readonly caller: CallerName
  readonly slots: readonly Slot[]
  readonly at: Standing
  readonly expected: Expected
}

const unknownId = 'f'.repeat(24)
/** Kinds whose ids in the API are small integers. */
const numbered: ReadonlySet<ThingKind> = new Set(['sensor', 'stream', 'datapoint'])

/** The id of an existing resource; undefined if there is none. */
export const idOf = ({ standing }: World, kind: ThingKind, state: State, caller: CallerName): string | undefined => {
  const isText = kind === 'mail' || kind === 'logoPath'
  switch (state) {
    case 'own': {
      const account = accountOf[caller]
      return account === undefined ? undefined : standing[account]?.[kind]
    }
    case 'unknown':
      if (numbered.has(kind)) return '999999999'
      return kind === 'mail' ? 'nobody@example.org' : kind === 'logoPath' ? `space-${unknownId}` : unknownId
    case 'malformed':
      return isText ? undefined : 'nonsense'
    case 'other':
      if (numbered.has(kind)) return '-1'
      return isText ? undefined : kind === 'dataset' ? standing['lab']?.collection : standing['lab']?.dataset
    default:
      return standing[state]?.[kind]
  }
}
