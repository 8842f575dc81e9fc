import type { Dataset, File, Folder } from './model-rights.ts'
import { actorOf, attempt, type Check, pick, type Step, type World } from './model-world.ts'

interface Node {
  readonly id: string
  readonly name: string
  readonly data: { readonly type: string }
}

const areUnique = (names: readonly string[]): boolean => new Set(names).size === names.length

/** Folders of the copy by those of the original, according to the tree. */
const foldersOf = async (world: World, original: Dataset, copy: Dataset): Promise<ReadonlyMap<Folder, Folder>> => {
  const copies = new Map<Folder, Folder>()
  const read = async (from: Folder | undefined, to: Folder | undefined): Promise<void> => {
    const query = to ? `nodeType=folder&nodeId=${to.id}` : `nodeType=dataset&nodeId=${copy.id}`
    const nodes = (await (await world.calls[copy.author](`/api/tree/getChildrenOfNode?${query}`)).json()) as readonly Node[]
    const own = world.state.folders.filter(each => each.dataset === original && each.parent === from && !each.isGone)
    for (const folder of own) {
      const node = nodes.find(({ name, data }) => name === folder.name && data.type === 'folder')
      if (!node) throw new Error(`the copy ${copy.id} has no folder ${folder.name}`)
      const made: Folder = { id: node.id, dataset: copy, parent: to, name: folder.name, isGone: false }
      copies.set(folder, made)
      await read(folder, made)
    }
  }
  await read(undefined, undefined)
  return copies
}

const filesOf = async (world: World, originals: readonly File[], original: Dataset, copy: Dataset): Promise<readonly File[]> => {
  const folders = await foldersOf(world, original, copy)
  const listed = (await (await world.calls[copy.author](`/api/datasets/${copy.id}/files`)).json()) as readonly {
    readonly id: string
    readonly filename: string
  }[]
  world.state.folders.push(...folders.values())
  return originals.map(file => {
    const id = listed.find(({ filename }) => filename === file.name)?.id
    if (id === undefined) throw new Error(`the copy ${copy.id} has no file ${file.name}`)
    const places = file.places
      .filter(place => place.dataset === original)
      .map(({ folder }) => ({ dataset: copy, folder: folder && folders.get(folder) }))
    return { ...file, id, author: copy.author, places, tags: [...file.tags], comments: [] }
  })
}

/** Copies a dataset into a space. Copies are matched by name, so datasets with duplicate names are skipped. */
export const copyDataset = async (world: World, step: Step): Promise<void> => {
  const [original, space] = [pick(world.state.datasets, step.a), pick(world.state.spaces, step.b)]
  if (!original || !space) return
  const files = world.state.files.filter(file => file.places.some(({ dataset }) => dataset === original))
  const folders = world.state.folders.filter(folder => folder.dataset === original && !folder.isGone)
  if (!areUnique([...files, ...folders].map(({ name }) => name))) return
  const who = actorOf(step, original)
  const checks: readonly Check[] = [
    ['AddResourceToSpace', space],
    ['ViewDataset', original],
  ]
  const rule = () => (original.author !== who ? 403 : undefined)
  const call = { method: 'POST', path: `/api/datasets/${original.id}/copyDatasetToSpace/${space.id}` }
  const done = await attempt(world, who, call, checks, rule)
  if (!done) return
  await world.server.drained()
  const { newDatasetId: id } = (await done.json()) as { readonly newDatasetId: string }
  const collections = new Set<never>()
  const about = {
    author: who,
    access: original.access,
    spaces: new Set([space]),
    collections,
    tags: [...original.tags],
    comments: [],
  } as const
  const copy: Dataset = {
    kind: 'dataset',
    id,
    name: original.name,
    isGone: false,
    isTrashed: false,
    ...about,
    tags: [...about.tags],
    comments: [],
  }
  world.state.datasets.push(copy)
  world.state.files.push(...(await filesOf(world, files, original, copy)))
}
