import type { Collection } from './model-rights.ts'
import { actorOf, attempt, type Check, idIn, newName, pick, refused, type Step, takingOut, type World } from './model-world.ts'

const makeCollection = async (world: World, step: Step): Promise<void> => {
  const space = step.b % 3 === 0 ? undefined : pick(world.state.spaces, step.a)
  const who = actorOf(step, space)
  const name = newName(world)
  const json = { name, description: '', ...(space ? { space: space.id } : {}) }
  const rule = () => space && refused(world, who, 'AddResourceToSpace', space)
  const made = await attempt(world, who, { method: 'POST', path: '/api/collections', json }, ['signedIn'], rule)
  if (!made) return
  const one: Collection = {
    kind: 'collection',
    id: await idIn(made),
    author: who,
    name,
    isGone: false,
    isTrashed: false,
    spaces: new Set(),
    rootSpaces: new Set(),
    parents: new Set(),
  }
  world.state.collections.push(one)
  if (space) world.state.enterSpace(one, space, true)
}

const renameCollection = async (world: World, step: Step): Promise<void> => {
  const one = pick(world.state.collections, step.a)
  if (!one) return
  const name = newName(world)
  const call = { method: 'PUT', path: `/api/collections/${one.id}/title`, json: { name } }
  if (await attempt(world, actorOf(step, one), call, [['EditCollection', one]])) one.name = name
}

const discardCollection = async (world: World, step: Step): Promise<void> => {
  const one = pick(world.state.collections, step.a)
  if (!one) return
  const call = { method: 'DELETE', path: `/api/collections/${one.id}` }
  if (!(await attempt(world, actorOf(step, one), call, [['DeleteCollection', one]]))) return
  if (one.isTrashed) world.state.removeCollection(one)
  else one.isTrashed = true
}

const restoreCollection = async (world: World, step: Step): Promise<void> => {
  const trashed = world.state.collections.filter(one => one.isTrashed)
  const one = pick(trashed.length > 0 ? trashed : world.state.collections, step.a)
  if (!one) return
  const call = { method: 'PUT', path: `/api/collections/restore/${one.id}` }
  if (await attempt(world, actorOf(step, one), call, [['DeleteCollection', one]])) one.isTrashed = false
}

const emptyCollectionTrash = async (world: World, step: Step): Promise<void> => {
  const who = actorOf(step)
  if (!(await attempt(world, who, { method: 'DELETE', path: '/api/collections/emptyTrash' }, ['signedIn']))) return
  for (const one of world.state.collections) if (one.author === who && one.isTrashed && !one.isGone) world.state.removeCollection(one)
}

const addChild = async (world: World, step: Step): Promise<void> => {
  const [parent, child] = [pick(world.state.collections, step.a), pick(world.state.collections, step.b)]
  if (!parent || !child) return
  const who = actorOf(step, child)
  const checks: readonly Check[] = [
    ['AddResourceToCollection', parent],
    ['EditCollection', child],
  ]
  const rule = () => {
    if ([...parent.spaces].some(space => !child.spaces.has(space)) && child.author !== who) return 403
    if (parent === child) return 400
    return world.state.isBelow(parent, child) || parent.isTrashed || child.isTrashed ? 409 : undefined
  }
  const call = { method: 'POST', path: `/api/collections/${parent.id}/addSubCollection/${child.id}` }
  if (await attempt(world, who, call, checks, rule)) world.state.addChild(parent, child)
}

const removeChild = async (world: World, step: Step): Promise<void> => {
  const nested = world.state.collections.filter(one => one.parents.size > 0)
  const child = pick(nested.length > 0 ? nested : world.state.collections, step.b)
  const parent = (step.c % 4 === 0 ? undefined : [...(child?.parents ?? [])][0]) ?? pick(world.state.collections, step.a)
  if (!parent || !child) return
  const who = actorOf(step, child)
  const checks: readonly Check[] = ['signedIn', ['ViewCollection', parent], ['ViewCollection', child]]
  const rule = () => takingOut(world, who, 'RemoveResourceFromCollection', parent, child)
  const call = { method: 'POST', path: `/api/collections/${parent.id}/removeSubCollection/${child.id}` }
  if (await attempt(world, who, call, checks, rule)) world.state.removeChild(parent, child)
}

const putDataset = async (world: World, step: Step): Promise<void> => {
  const [one, dataset] = [pick(world.state.collections, step.a), pick(world.state.datasets, step.b)]
  if (!one || !dataset) return
  const checks: readonly Check[] = [
    ['AddResourceToCollection', one],
    ['EditDataset', dataset],
  ]
  const rule = () => (dataset.isTrashed && !dataset.collections.has(one) ? 409 : undefined)
  const call = { method: 'POST', path: `/api/collections/${one.id}/datasets/${dataset.id}` }
  if (await attempt(world, actorOf(step, one), call, checks, rule)) dataset.collections.add(one)
}

const takeDataset = async (world: World, step: Step): Promise<void> => {
  const [one, dataset] = [pick(world.state.collections, step.a), pick(world.state.datasets, step.b)]
  if (!one || !dataset) return
  const who = actorOf(step, one)
  const checks: readonly Check[] = ['signedIn', ['ViewCollection', one], ['ViewDataset', dataset]]
  const rule = () => takingOut(world, who, 'RemoveResourceFromCollection', one, dataset)
  const call = { method: 'DELETE', path: `/api/collections/${one.id}/datasets/${dataset.id}` }
  if (await attempt(world, who, call, checks, rule)) dataset.collections.delete(one)
}

/** Operations on collections. */
export const collectionOperations = {
  makeCollection,
  renameCollection,
  discardCollection,
  restoreCollection,
  emptyCollectionTrash,
  addChild,
  removeChild,
  putDataset,
  takeDataset,
}
