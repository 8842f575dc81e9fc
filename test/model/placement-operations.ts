import assert from 'node:assert/strict'
import { type Dataset, type File, type Folder, isOutOfSight } from './model-rights.ts'
import { actorOf, attempt, type Check, pick, refused, type Step, type World } from './model-world.ts'

const placeIn = (file: File, dataset: Dataset, folder: Folder | undefined): boolean =>
  file.places.some(place => place.dataset === dataset && place.folder === folder)

/** Moves a file between locations; a file in both remains only in the second one. */
const swap = (file: File, dataset: Dataset, from: Folder | undefined, to: Folder | undefined): void => {
  const left = file.places.filter(place => place.dataset !== dataset || (place.folder !== from && place.folder !== to))
  file.places = [...left, { dataset, folder: to }]
}

const moveToFolder = async (world: World, step: Step): Promise<void> => {
  const [to, file] = [pick(world.state.folders, step.a), pick(world.state.files, step.b)]
  if (!to || !file) return
  const dataset = to.dataset
  const from = file.places.find(place => place.dataset === dataset)?.folder
  const checks: readonly Check[] = [
    ['AddResourceToDataset', dataset],
    ['ViewFile', file],
  ]
  const rule = () => (dataset.isTrashed ? 409 : to.isGone || from?.isGone ? 404 : placeIn(file, dataset, from) ? undefined : 400)
  const path = `/api/datasets/${dataset.id}/moveFile/${to.id}/${file.id}`
  const call = { method: 'POST', path, json: from ? { folderId: from.id } : {} }
  if (await attempt(world, actorOf(step, dataset), call, checks, rule)) swap(file, dataset, from, to)
}

const moveToRoot = async (world: World, step: Step): Promise<void> => {
  const file = pick(world.state.files, step.b)
  const from = file?.places.find(place => place.folder)?.folder ?? pick(world.state.folders, step.a)
  if (!from || !file) return
  const dataset = from.dataset
  const checks: readonly Check[] = [
    ['AddResourceToDataset', dataset],
    ['ViewFile', file],
  ]
  const rule = () => (from.isGone ? 404 : dataset.isTrashed ? 409 : placeIn(file, dataset, from) ? undefined : 400)
  const call = { method: 'POST', path: `/api/datasets/${dataset.id}/moveToDataset/${from.id}/${file.id}` }
  if (await attempt(world, actorOf(step, dataset), call, checks, rule)) swap(file, dataset, from, undefined)
}

const moveFolder = async (world: World, step: Step): Promise<void> => {
  const folder = pick(world.state.folders, step.a)
  if (!folder) return
  const into = step.c % 2 === 0 ? pick(world.state.folders, step.b) : undefined
  const to = into?.dataset ?? (step.c % 3 === 0 ? folder.dataset : pick(world.state.datasets, step.b)) ?? folder.dataset
  const from = folder.dataset
  const isTaken = (each: Folder): boolean => each !== folder && each.dataset === to && each.parent === into && !each.isGone
  // A second folder of the same name is shown with another name.
  if (world.state.folders.some(each => isTaken(each) && each.name === folder.name)) return
  const checks: readonly Check[] = [
    ['AddResourceToDataset', from],
    ['AddResourceToDataset', to],
    ...(to === from ? [] : ([['RemoveResourceFromDataset', from] as const, ['EditFile', from] as const] satisfies readonly Check[])),
  ]
  const rule = () => {
    if (folder.isGone) return 404
    if (to.isTrashed) return 409
    if (into?.isGone) return 404
    return world.state.isInside(into, folder) ? 400 : undefined
  }
  const query = `${to === from ? '' : `&to=${to.id}`}${into ? `&into=${into.id}` : ''}`
  const call = { method: 'POST', path: `/api/datasets/${from.id}/moveFolder/${folder.id}?${query.slice(1)}` }
  if (await attempt(world, actorOf(step, from), call, checks, rule)) world.state.moveFolder(folder, to, into)
}

const several = (world: World, step: Step): readonly File[] => {
  const some = [step.a, step.b, step.c].flatMap(number => pick(world.state.files, number) ?? [])
  return [...new Set(some)]
}

const attachSeveral = async (world: World, step: Step): Promise<void> => {
  const dataset = pick(world.state.datasets, step.a)
  if (!dataset) return
  const who = actorOf(step, dataset)
  const files = several(world, step)
  const rule = () => {
    const refusal = [refused(world, who, 'AddResourceToDataset', dataset), ...files.map(file => refused(world, who, 'EditFile', file))]
    return refusal.find(status => status !== undefined) ?? (dataset.isTrashed ? 409 : undefined)
  }
  const json = { datasetid: dataset.id, existingfiles: files.map(({ id }) => id).join(',') }
  const done = await attempt(world, who, { method: 'POST', path: '/api/datasets/attachmultiple', json }, ['signedIn'], rule)
  if (done) for (const file of files) if (!placeIn(file, dataset, undefined)) file.places.push({ dataset, folder: undefined })
}

const removeSeveral = async (world: World, step: Step): Promise<void> => {
  const files = several(world, step)
  const who = actorOf(step, files[0])
  if (files.length === 0) return
  const wanted: Record<string, string[]> = { deleted: [], 'not found': [], 'error deleting': [], 'no permission': [] }
  const allowed = files.filter(file => world.rights.may(who, 'DeleteFile', file) && !isOutOfSight(file))
  for (const file of files) {
    const outcome = allowed.includes(file) ? 'deleted' : world.rights.may(who, 'ViewFile', file) ? 'no permission' : 'not found'
    wanted[outcome]?.push(file.id)
  }
  const call = { method: 'POST', path: '/api/files/bulkRemove', json: { fileIds: files.map(({ id }) => id) } }
  const done = await attempt(world, who, call, ['signedIn'])
  if (!done) return
  assert.deepEqual(await done.json(), wanted, call.path)
  for (const file of allowed) {
    file.isGone = true
    file.places = []
  }
}

/** Moves within and between datasets, and operations on several files at once. */
export const placementOperations = { moveToFolder, moveToRoot, moveFolder, attachSeveral, removeSeveral }
