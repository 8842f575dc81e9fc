import type { Dataset, File } from './model-rights.ts'
import { actorOf, attempt, type Check, idIn, newName, pick, type Step, type World } from './model-world.ts'

const uploadFile = async (world: World, step: Step): Promise<void> => {
  const dataset = pick(world.state.datasets, step.a)
  if (!dataset) return
  const own = world.state.folders.filter(folder => folder.dataset === dataset && !folder.isGone)
  const folder = step.b % 2 === 0 ? pick(own, step.b) : undefined
  const who = actorOf(step, dataset)
  const name = `${newName(world)}.txt`
  const content = `content ${step.c % 1000}`
  const body = new FormData()
  body.append('File', new Blob([content], { type: 'text/plain' }), name)
  const path = `/api/uploadToDataset/${dataset.id}?extract=false${folder ? `&folder_id=${folder.id}` : ''}`
  const rule = () => (dataset.isTrashed ? 409 : undefined)
  const made = await attempt(world, who, { method: 'POST', path, body }, [['AddResourceToDataset', dataset]], rule)
  if (!made) return
  const file: File = {
    kind: 'file',
    id: await idIn(made),
    author: who,
    name,
    isGone: false,
    places: [{ dataset, folder }],
    content,
    tags: [],
    comments: [],
  }
  world.state.files.push(file)
}

const renameFile = async (world: World, step: Step): Promise<void> => {
  const file = pick(world.state.files, step.a)
  if (!file) return
  const name = `${newName(world)}.txt`
  const call = { method: 'PUT', path: `/api/files/${file.id}/filename`, json: { name } }
  if (await attempt(world, actorOf(step, file), call, [['EditFile', file]])) file.name = name
}

const deleteFile = async (world: World, step: Step): Promise<void> => {
  const file = pick(world.state.files, step.a)
  if (!file) return
  const call = { method: 'DELETE', path: `/api/files/${file.id}` }
  if (await attempt(world, actorOf(step, file), call, [['DeleteFile', file]])) {
    file.isGone = true
    file.places = []
  }
}

const isInRoot = (file: File, dataset: Dataset): boolean =>
  file.places.some(place => place.dataset === dataset && place.folder === undefined)

const attachFile = async (world: World, step: Step): Promise<void> => {
  const [dataset, file] = [pick(world.state.datasets, step.a), pick(world.state.files, step.b)]
  if (!dataset || !file) return
  const checks: readonly Check[] = [
    ['AddResourceToDataset', dataset],
    ['EditFile', file],
  ]
  const call = { method: 'POST', path: `/api/datasets/${dataset.id}/files/${file.id}` }
  if (!(await attempt(world, actorOf(step, dataset), call, checks, () => (dataset.isTrashed ? 409 : undefined)))) return
  if (!isInRoot(file, dataset)) file.places.push({ dataset, folder: undefined })
}

const detachFile = async (world: World, step: Step): Promise<void> => {
  const file = pick(world.state.files, step.b)
  const dataset = file?.places[step.c % 3]?.dataset ?? pick(world.state.datasets, step.a)
  if (!dataset || !file) return
  const call = { method: 'DELETE', path: `/api/datasets/${dataset.id}/${file.id}` }
  if (await attempt(world, actorOf(step, dataset), call, [['CreateDataset', dataset]]))
    file.places = file.places.filter(place => place.dataset !== dataset)
}

const moveBetweenDatasets = async (world: World, step: Step): Promise<void> => {
  const file = pick(world.state.files, step.b)
  const to = pick(world.state.datasets, step.a)
  const from = (step.c % 4 === 0 ? undefined : file?.places[0]?.dataset) ?? pick(world.state.datasets, step.c)
  if (!from || !to || !file) return
  const checks: readonly Check[] = [
    ['AddResourceToDataset', from],
    ['AddResourceToDataset', to],
    ['EditFile', file],
  ]
  const rule = () => (to.isTrashed ? 409 : isInRoot(file, from) ? undefined : 404)
  const call = { method: 'POST', path: `/api/datasets/${from.id}/moveBetweenDatasets/${to.id}/${file.id}` }
  if (!(await attempt(world, actorOf(step, from), call, checks, rule)) || from === to) return
  file.places = file.places.filter(place => place.dataset !== from || place.folder !== undefined)
  if (!isInRoot(file, to)) file.places.push({ dataset: to, folder: undefined })
}

const carrier = (world: World, step: Step): { readonly thing: Dataset | File; readonly path: string } | undefined => {
  const thing = step.b % 2 === 0 ? pick(world.state.files, step.a) : pick(world.state.datasets, step.a)
  return thing && { thing, path: `/api/${thing.kind}s/${thing.id}` }
}

const tag = async (world: World, step: Step): Promise<void> => {
  const on = carrier(world, step)
  if (!on) return
  const name = newName(world)
  const call = { method: 'POST', path: `${on.path}/tags`, json: { tags: [name] } }
  if (await attempt(world, actorOf(step, on.thing), call, [['AddTag', on.thing]])) on.thing.tags.push(name)
}

const untag = async (world: World, step: Step): Promise<void> => {
  const on = carrier(world, step)
  if (!on) return
  const name = on.thing.tags[step.c % 5] ?? 'never there'
  const call = { method: 'DELETE', path: `${on.path}/tags`, json: { tags: [name] } }
  if (await attempt(world, actorOf(step, on.thing), call, [['DeleteTag', on.thing]]))
    on.thing.tags = on.thing.tags.filter(each => each !== name)
}

const comment = async (world: World, step: Step): Promise<void> => {
  const on = carrier(world, step)
  if (!on) return
  const text = `${newName(world)} said`
  const call = { method: 'POST', path: `${on.path}/comment`, json: { text } }
  if (await attempt(world, actorOf(step, on.thing), call, [['AddComment', on.thing]])) on.thing.comments.push(text)
}

/** Operations on files, and annotations of files and datasets. */
export const fileOperations = {
  uploadFile,
  renameFile,
  deleteFile,
  attachFile,
  detachFile,
  moveBetweenDatasets,
  tag,
  untag,
  comment,
}
