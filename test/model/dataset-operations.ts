import type { Dataset, Folder } from './model-rights.ts'
import { actorOf, attempt, idIn, newName, pick, refused, type Step, type World } from './model-world.ts'

const accesses = ['DEFAULT', 'DEFAULT', 'PRIVATE', 'PUBLIC'] as const

const makeDataset = async (world: World, step: Step): Promise<void> => {
  const space = step.a % 3 === 0 ? undefined : pick(world.state.spaces, step.a)
  const who = actorOf(step, space)
  const inSpace = world.state.collections.filter(one => !one.isGone && space !== undefined && one.spaces.has(space))
  const collection = step.b % 2 === 0 ? pick(inSpace.length > 0 ? inSpace : world.state.collections, step.b) : undefined
  const access = accesses[step.c % 4] ?? 'DEFAULT'
  const name = newName(world)
  const json = { name, description: '', access, space: space ? [space.id] : [], collection: collection ? [collection.id] : [] }
  const rule = () =>
    (space && refused(world, who, 'AddResourceToSpace', space)) ??
    (collection && refused(world, who, 'AddResourceToCollection', collection))
  const made = await attempt(world, who, { method: 'POST', path: '/api/datasets/createempty', json }, ['signedIn'], rule)
  if (!made) return
  const dataset: Dataset = {
    kind: 'dataset',
    id: await idIn(made),
    author: who,
    name,
    isGone: false,
    access,
    isTrashed: false,
    spaces: new Set(space ? [space] : []),
    collections: new Set(collection ? [collection] : []),
    tags: [],
    comments: [],
  }
  world.state.datasets.push(dataset)
}

const renameDataset = async (world: World, step: Step): Promise<void> => {
  const dataset = pick(world.state.datasets, step.a)
  if (!dataset) return
  const name = newName(world)
  const call = { method: 'PUT', path: `/api/datasets/${dataset.id}/title`, json: { name } }
  if (await attempt(world, actorOf(step, dataset), call, [['EditDataset', dataset]])) dataset.name = name
}

const discardDataset = async (world: World, step: Step): Promise<void> => {
  const dataset = pick(world.state.datasets, step.a)
  if (!dataset) return
  const call = { method: 'DELETE', path: `/api/datasets/${dataset.id}` }
  if (!(await attempt(world, actorOf(step, dataset), call, [['DeleteDataset', dataset]]))) return
  if (dataset.isTrashed) world.state.removeDataset(dataset)
  else dataset.isTrashed = true
}

const restoreDataset = async (world: World, step: Step): Promise<void> => {
  const trashed = world.state.datasets.filter(dataset => dataset.isTrashed)
  const dataset = pick(trashed.length > 0 ? trashed : world.state.datasets, step.a)
  if (!dataset) return
  const call = { method: 'PUT', path: `/api/datasets/restore/${dataset.id}` }
  if (await attempt(world, actorOf(step, dataset), call, [['DeleteDataset', dataset]])) dataset.isTrashed = false
}

const emptyDatasetTrash = async (world: World, step: Step): Promise<void> => {
  const who = actorOf(step)
  if (!(await attempt(world, who, { method: 'DELETE', path: '/api/datasets/emptyTrash' }, ['signedIn']))) return
  for (const dataset of world.state.datasets)
    if (dataset.author === who && dataset.isTrashed && !dataset.isGone) world.state.removeDataset(dataset)
}

const detachAndDelete = async (world: World, step: Step): Promise<void> => {
  const dataset = pick(world.state.datasets, step.a)
  if (!dataset) return
  const call = { method: 'POST', path: `/api/datasets/${dataset.id}/detachdelete`, trash: 'frozen' } as const
  if (!(await attempt(world, actorOf(step, dataset), call, [['DeleteDataset', dataset]]))) return
  for (const file of world.state.files) file.places = file.places.filter(one => one.dataset !== dataset || one.folder !== undefined)
  world.state.removeDataset(dataset)
}

const setAccess = async (world: World, step: Step): Promise<void> => {
  const dataset = pick(world.state.datasets, step.a)
  if (!dataset) return
  const access = accesses[step.b % 4] ?? 'DEFAULT'
  const call = { method: 'PUT', path: `/api/datasets/${dataset.id}/access?access=${access}` }
  if (await attempt(world, actorOf(step, dataset), call, [['PublicDataset', dataset]])) dataset.access = access
}

const makeFolder = async (world: World, step: Step): Promise<void> => {
  const above = step.b % 2 === 0 ? pick(world.state.folders, step.b) : undefined
  const dataset = above?.dataset ?? pick(world.state.datasets, step.a)
  if (!dataset) return
  const who = actorOf(step, dataset)
  const name = newName(world)
  const json = { name, parentId: (above ?? dataset).id, parentType: above ? 'folder' : 'dataset' }
  const rule = () => (dataset.isTrashed ? 409 : above?.isGone ? 404 : undefined)
  const call = { method: 'POST', path: `/api/datasets/${dataset.id}/newFolder`, json }
  const made = await attempt(world, who, call, [['AddResourceToDataset', dataset]], rule)
  if (!made) return
  const folder: Folder = { id: await idIn(made), dataset, parent: above, name, isGone: false }
  world.state.folders.push(folder)
}

const renameFolder = async (world: World, step: Step): Promise<void> => {
  const folder = pick(world.state.folders, step.a)
  if (!folder) return
  const name = newName(world)
  const call = { method: 'PUT', path: `/api/datasets/${folder.dataset.id}/updateName/${folder.id}`, json: { name } }
  const rule = () => (folder.isGone ? 404 : undefined)
  if (await attempt(world, actorOf(step, folder.dataset), call, [['AddResourceToDataset', folder.dataset]], rule)) folder.name = name
}

const deleteFolder = async (world: World, step: Step): Promise<void> => {
  const folder = pick(world.state.folders, step.a)
  if (!folder) return
  const call = { method: 'DELETE', path: `/api/datasets/${folder.dataset.id}/deleteFolder/${folder.id}` }
  const rule = () => (folder.isGone ? 404 : undefined)
  const done = await attempt(world, actorOf(step, folder.dataset), call, [['RemoveResourceFromDataset', folder.dataset]], rule)
  if (done) world.state.removeFolder(folder)
}

/** Operations on datasets and their folders. */
export const datasetOperations = {
  makeDataset,
  renameDataset,
  discardDataset,
  restoreDataset,
  emptyDatasetTrash,
  detachAndDelete,
  setAccess,
  makeFolder,
  renameFolder,
  deleteFolder,
}
