import { accountOf, type CallerName } from './callers.ts'
import type { Cell } from './cell.ts'
import { needsOf } from './cells.ts'
import { isJobKey } from './oracle/job-keys.ts'
import type { ThingKind } from './things.ts'
import type { World } from './world.ts'

/** Kinds whose ids are visible only to callers who may view the resource. */
const kept: readonly ThingKind[] = ['space', 'collection', 'dataset', 'folder', 'file', 'section', 'preview', 'metadata', 'comment']

const known = new WeakMap<World, Map<CallerName, ReadonlyMap<string, string>>>()

const isOutsideLab = (caller: CallerName): boolean =>
  accountOf[caller] === undefined || ['stranger', 'serverAdmin', 'otherSpaceKey'].includes(caller)

/** Ids that a caller may not see, with a description of each. */
const hiddenFrom = (world: World, caller: CallerName): ReadonlyMap<string, string> => {
  const byCaller = known.get(world) ?? new Map<CallerName, ReadonlyMap<string, string>>()
  known.set(world, byCaller)
  const found = byCaller.get(caller)
  if (found) return found
  const hidden = new Map<string, string>()
  const hide = (state: string, kinds = kept): void => {
    for (const kind of kinds) {
      const id = world.standing[state]?.[kind]
      if (id !== undefined) hidden.set(id, `${kind} of ${state}`)
    }
  }
  const account = accountOf[caller]
  if (caller !== 'superAdmin') {
    if (account !== 'author') hide('trashed')
    if (account !== 'author') hide('trashedShared', account === 'editor' ? ['dataset', 'folder'] : kept)
    if (isJobKey(caller)) for (const state of ['own', 'archived', 'attached', 'halfTrashed', 'shown', 'foreign', account ?? '']) hide(state)
    if (world.mode !== 'public') {
      hide('foreign')
      for (const other of new Set(Object.values(accountOf))) if (other !== undefined && other !== account) hide(other)
      if (isOutsideLab(caller)) for (const state of ['lab', 'attached', 'halfTrashed']) hide(state)
    }
  }
  // The author of a change may see it.
  if (account !== 'author' && account !== 'admin') hide('deleted')
  byCaller.set(caller, hidden)
  return hidden
}

/** A leak in a response; undefined if there is none. Ids of the request may be repeated. */
export const leakIn = (world: World, { route, caller, slots, at }: Cell, text: string): string | undefined => {
  if (needsOf(route).includes('serverAdmin')) return undefined
  const hidden = hiddenFrom(world, caller)
  const requested = new Set(slots.map(({ kind, parameter }) => world.standing[at[parameter] ?? '']?.[kind]))
  for (const [id] of text.matchAll(/\b[0-9a-f]{24}\b/g)) {
    const what = hidden.get(id)
    if (what !== undefined && !requested.has(id)) return what
  }
  return numberIn(world, route.name, caller, text)
}

/** Lists of resources whose ids are small integers. */
const numberedLists: Readonly<Record<string, ThingKind>> = {
  listSensors: 'sensor',
  listStreams: 'stream',
  searchStreams: 'stream',
  listDatapoints: 'datapoint',
}

/** The number of a resource that the caller may not view, in a list of such resources. */
const numberIn = ({ mode, standing }: World, route: string, caller: CallerName, text: string): string | undefined => {
  const kind = numberedLists[route]
  if (kind === undefined || mode !== 'closed' || caller === 'superAdmin') return undefined
  const own = accountOf[caller]
  const hidden = ['foreign', 'deleted', ...(isOutsideLab(caller) ? ['lab'] : []), ...Object.values(accountOf).filter(name => name !== own)]
  const numbers = new Map(hidden.map(state => [standing[state ?? '']?.[kind], `${kind} of ${state}`]))
  for (const [, number = ''] of text.matchAll(/[{,]"id":(\d+)/g)) if (numbers.has(number)) return numbers.get(number)
  return undefined
}
