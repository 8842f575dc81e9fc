import { Files } from 'pounce/sdk'
import { ok } from '../support/scene.ts'
import { accountOf } from './callers.ts'
import { type Cell, idOf } from './cell.ts'
import { isJobKey } from './oracle/job-keys.ts'
import type { ThingKind, Things } from './things.ts'
import { type Credentials, type Ids, isFrozen, jobKey, newAttached, newHalfTrash, type State, sharedTrash, type World } from './world.ts'

type FreshIds = Readonly<Record<string, string | undefined>>

/** Kinds for which a new resource requires a new space. */
const spacious: ReadonlySet<ThingKind> = new Set(['space', 'logo', 'logoPath', 'definition'])

/** Kinds for which the existing resource is used, because requests do not affect it. */
const fixed: ReadonlySet<ThingKind> = new Set(['user', 'mail'])

const newSpace = async (world: World, who: 'author' | 'owner'): Promise<string> =>
  (await ok<{ id: string }>(world.people[who].call('/api/spaces', { method: 'POST', json: { name: 'fresh', description: '' } }))).id

const publish = async ({ asSuperAdmin }: World, space: string): Promise<void> => {
  await ok(asSuperAdmin(`/api/spaces/${space}/verify`, { method: 'PUT' }))
  const json = { name: 'shown', description: '', timetolive: '24', enabled: false, access: 'PUBLIC' }
  await ok(asSuperAdmin(`/api/spaces/${space}/update?superAdmin=true`, { method: 'POST', json }))
}

const thingsIn = async (world: World, state: State, { caller, slots }: Cell): Promise<Things | undefined> => {
  const needsSpace = slots.some(({ kind }) => spacious.has(kind))
  const account = accountOf[caller]
  switch (state) {
    case 'own':
      return account === undefined || isFrozen(account) ? undefined : world.things(account)
    case 'lab':
    case 'archived':
    case 'trashed': {
      if (!needsSpace) return world.things('author', world.spaces.lab)
      const space = await newSpace(world, 'author')
      await world.letIn(space)
      return world.things('author', space)
    }
    case 'foreign':
    case 'shown': {
      if (!needsSpace) return world.things('owner', world.spaces[state])
      const space = await newSpace(world, 'owner')
      if (state === 'shown') await publish(world, space)
      return world.things('owner', space)
    }
    default:
      return undefined
  }
}

/** Ids of resources with several owners or datasets. */
const ofSeveralIn = async (world: World, { slots, at }: Cell): Promise<ReadonlyMap<State, Ids>> => {
  const kinds = slots.map(({ kind }) => kind)
  const found = new Map<State, Ids>()
  const stands = Object.values(at)
  if (stands.includes('trashedShared')) found.set('trashedShared', await sharedTrash(world, kinds))
  if (stands.includes('attached')) found.set('attached', await newAttached(world, kinds))
  if (stands.includes('halfTrashed')) found.set('halfTrashed', await newHalfTrash(world, kinds))
  return found
}

/** Ids of new resources for the slots of a cell, and the credentials of a caller whose key is created for them. */
export const newResources = async (world: World, cell: Cell): Promise<{ readonly ids: FreshIds; readonly credentials?: Credentials }> => {
  const byState = new Map<State, Things | undefined>()
  const ofSeveral = await ofSeveralIn(world, cell)
  const ids: Record<string, string | undefined> = {}
  const seen = new Set<string>()
  for (const { kind, parameter } of cell.slots) {
    const state = cell.at[parameter] ?? 'unknown'
    const given = ofSeveral.get(state)
    if (given) {
      ids[parameter] = given[kind]
      continue
    }
    // Two slots of one kind get two resources: moving a resource to its current location proves little.
    const again = `${state} ${kind}`
    const isSecond = seen.has(again)
    seen.add(again)
    if (!byState.has(state)) byState.set(state, await thingsIn(world, state, cell))
    const things = isSecond ? await thingsIn(world, state, cell) : byState.get(state)
    ids[parameter] = things === undefined || fixed.has(kind) ? idOf(world, kind, state, cell.caller) : await things.of(kind)
    if (state === 'archived' && kind === 'file' && things)
      await world.server.get(Files).change(String(ids[parameter]), { set: { status: 'ARCHIVED' } }, [])
    if (isSecond && state === 'trashed') await things?.throwAway()
  }
  await byState.get('trashed')?.throwAway()
  const lab = byState.get('lab')
  if (!isJobKey(cell.caller)) return { ids }
  // Created now: another cell may have signed out its user everywhere, which revokes earlier job keys.
  const about = lab ? { file: await lab.of('file'), dataset: await lab.of('dataset') } : (world.standing['lab'] ?? {})
  const key = await jobKey(world.server, world.people.spaceAdmin, about, cell.caller)
  return { ids, credentials: { headers: { 'x-api-key': key }, query: '' } }
}
