import {
  type AnyThing,
  type Collection,
  type Dataset,
  exists,
  type File,
  type Folder,
  isOutOfSight,
  type Person,
  people,
  type Space,
} from './model-rights.ts'
import { pathOf } from './model-state.ts'
import type { World } from './model-world.ts'

/** A request by a caller, and its expected response. */
export interface Expectation {
  readonly who: Person
  readonly path: string
  readonly status: number
  /** For a success: extracts the relevant part of the body, and its expected value. Lists are compared regardless of order. */
  readonly body?: { readonly of: (body: never) => readonly string[]; readonly is: readonly string[] }
}

type Item = Readonly<Record<string, string>>
const idsOf = (items: readonly Item[]): readonly string[] => items.map(({ id = '' }) => id)
const ids = (things: readonly { readonly id: string }[]) => ({ of: idsOf, is: things.map(({ id }) => id) })

const notSeen = (world: World, who: Person): number => (who === 'nobody' && world.rights.isPrivate ? 401 : 404)

const editing = { dataset: ['AddResourceToDataset', 'EditDataset'], collection: ['AddResourceToCollection', 'EditCollection'] } as const

const isBelowOther = (one: Collection): boolean => [...one.parents].some(parent => !parent.isTrashed)

const isTopLevel = (one: Collection): boolean => !isBelowOther(one) || one.rootSpaces.size > 0

/** The spaces in the list of spaces, which on a public server also contains only those relevant for the caller. */
const spacesFor = (world: World, who: Person): readonly Space[] =>
  world.state.spaces.filter(one => !one.isGone && (one.access === 'PUBLIC' || one.author === who || one.members.has(who)))

const lists = (world: World, who: Person): readonly Expectation[] => {
  const { state, rights } = world
  const seen = <T extends AnyThing>(all: readonly T[]): readonly T[] => all.filter(one => rights.sees(who, one))
  const editable = <T extends Dataset | Collection>(all: readonly T[]): readonly T[] =>
    all.filter(one => !one.isTrashed && editing[one.kind].some(permission => rights.may(who, permission, one)))
  const status = who === 'nobody' && rights.isPrivate ? 401 : 200
  const trash = <T extends Dataset | Collection>(all: readonly T[]): readonly T[] =>
    all.filter(one => !one.isGone && one.isTrashed && one.author === who)
  const found = [...seen(state.files), ...seen(state.datasets), ...seen(state.collections)]
  const hits = (body: { readonly results: readonly Item[] }) =>
    idsOf(body.results.filter(({ resource_type: type }) => type === 'file' || type === 'dataset' || type === 'collection'))
  return [
    { who, path: '/api/spaces?limit=0', status: 200, body: ids(spacesFor(world, who)) },
    { who, path: '/api/datasets?limit=0', status, body: ids(seen(state.datasets)) },
    { who, path: '/api/datasets/canEdit?limit=0', status, body: ids(editable(state.datasets)) },
    { who, path: '/api/collections?limit=0', status, body: ids(seen(state.collections).filter(isTopLevel)) },
    { who, path: '/api/collections/canEdit?limit=0', status, body: ids(editable(state.collections)) },
    { who, path: '/api/datasets/listTrash?limit=0', status: who === 'nobody' ? 401 : 200, body: ids(trash(state.datasets)) },
    { who, path: '/api/collections/listTrash?limit=0', status, body: ids(trash(state.collections)) },
    { who, path: `/api/search?query=${world.word}&size=1000`, status, body: { of: hits, is: idsOf(found as never) } },
  ]
}

const oneSpace = (world: World, who: Person, space: Space): readonly Expectation[] => {
  const path = `/api/spaces/${space.id}`
  if (!world.rights.may(who, 'ViewSpace', space)) return [{ who, path, status: notSeen(world, who) }]
  const datasets = world.state.datasets.filter(one => one.spaces.has(space) && world.rights.sees(who, one))
  const collections = world.state.collections.filter(one => one.rootSpaces.has(space) && world.rights.sees(who, one))
  return [
    { who, path, status: 200, body: { of: (body: Item) => [body['name'] ?? ''], is: [space.name] } },
    { who, path: `${path}/datasets`, status: 200, body: ids(datasets) },
    { who, path: `${path}/collections`, status: 200, body: ids(collections) },
  ]
}

const oneCollection = (world: World, who: Person, one: Collection): readonly Expectation[] => {
  const path = `/api/collections/${one.id}`
  if (!world.rights.may(who, 'ViewCollection', one)) return [{ who, path, status: notSeen(world, who) }]
  const sees = (thing: AnyThing): boolean => world.rights.sees(who, thing)
  const children = world.state.childrenOf(one).filter(sees)
  return [
    { who, path, status: 200, body: { of: (body: Item) => [body['name'] ?? ''], is: [one.name] } },
    { who, path: `${path}/datasets`, status: 200, body: ids(world.state.datasets.filter(each => each.collections.has(one) && sees(each))) },
    { who, path: `${path}/getChildCollections`, status: 200, body: ids(children) },
    { who, path: `${path}/getParentCollections`, status: 200, body: ids([...one.parents].filter(sees)) },
  ]
}

interface Carried {
  readonly tags: readonly string[]
}
const statements = (who: Person, path: string, thing: Dataset | File): readonly Expectation[] => [
  { who, path: `${path}/tags`, status: 200, body: { of: (body: Carried) => body.tags, is: thing.tags } },
  {
    who,
    path: `${path}/comments`,
    status: 200,
    body: { of: (body: readonly Item[]) => body.map(({ text = '' }) => text), is: thing.comments },
  },
]

const oneDataset = (world: World, who: Person, dataset: Dataset): readonly Expectation[] => {
  const { rights, state } = world
  const path = `/api/datasets/${dataset.id}`
  if (!rights.may(who, 'ViewDataset', dataset)) return [{ who, path, status: notSeen(world, who) }]
  const files = state.files.flatMap(file => file.places.filter(place => place.dataset === dataset).map(() => file))
  const folders = state.folders.filter(folder => folder.dataset === dataset && !folder.isGone)
  const paths = folders.map(folder => `/${pathOf(folder).join('/')}`)
  const mayAdd = rights.may(who, 'AddResourceToDataset', dataset)
  return [
    { who, path, status: 200, body: { of: (body: Item) => [body['name'] ?? ''], is: [dataset.name] } },
    { who, path: `${path}/files`, status: 200, body: ids(files) },
    {
      who,
      path: `${path}/folders`,
      status: mayAdd ? 200 : who === 'nobody' ? 401 : 403,
      body: { of: (body: readonly Item[]) => body.map(({ name = '' }) => name), is: paths },
    },
    ...statements(who, path, dataset),
  ]
}

const oneFile = (world: World, who: Person, file: File): readonly Expectation[] => {
  const { rights } = world
  const path = `/api/files/${file.id}`
  if (!rights.may(who, 'ViewFile', file)) return [{ who, path: `${path}/metadata`, status: notSeen(world, who) }]
  const mayDownload = rights.may(who, 'DownloadFiles', file)
  return [
    { who, path: `${path}/metadata`, status: 200, body: { of: (body: Item) => [body['filename'] ?? ''], is: [file.name] } },
    {
      who,
      path: `${path}?tracking=false`,
      status: mayDownload ? 200 : who === 'nobody' ? 401 : 403,
      body: { of: (body: string) => [body], is: [file.content] },
    },
    ...statements(who, path, file),
  ]
}

const below = (who: Person, type: string, id: string | undefined, is: readonly { readonly id: string }[]): Expectation => ({
  who,
  path: `/api/tree/getChildrenOfNode?nodeType=${type}${id === undefined ? '' : `&nodeId=${id}`}`,
  status: who === 'nobody' ? 401 : 200,
  body: ids(is),
})

const filesAt = (world: World, dataset: Dataset, folder: Folder | undefined): readonly File[] =>
  world.state.files.filter(file => file.places.some(place => place.dataset === dataset && place.folder === folder))

const tree = (world: World, who: Person): readonly Expectation[] => {
  const { state, rights } = world
  const datasets = state.datasets.filter(one => rights.sees(who, one))
  const collections = state.collections.filter(one => rights.sees(who, one))
  const loose = [
    ...datasets.filter(one => one.author === who && one.spaces.size === 0 && one.collections.size === 0),
    ...collections.filter(one => one.author === who && one.spaces.size === 0 && !isBelowOther(one)),
  ]
  const inCollectionOf = (one: Dataset, space: Space): boolean =>
    [...one.collections].some(each => !each.isTrashed && each.spaces.has(space))
  const spaces = state.spaces.filter(one => rights.may(who, 'ViewSpace', one))
  const folders = (dataset: Dataset, parent: Folder | undefined): readonly Folder[] =>
    state.folders.filter(each => each.dataset === dataset && each.parent === parent && !each.isGone)
  return [
    below(who, 'root', undefined, [...spacesFor(world, who), ...loose]),
    ...spaces.map(one =>
      below(who, 'space', one.id, [
        ...datasets.filter(each => each.spaces.has(one) && !inCollectionOf(each, one)),
        ...collections.filter(each => each.rootSpaces.has(one)),
      ]),
    ),
    ...collections.map(one =>
      below(who, 'collection', one.id, [
        ...datasets.filter(each => each.collections.has(one)),
        ...collections.filter(each => each.parents.has(one)),
      ]),
    ),
    ...datasets.map(one => below(who, 'dataset', one.id, [...folders(one, undefined), ...filesAt(world, one, undefined)])),
    ...state.folders
      .filter(one => !one.isGone && rights.sees(who, one.dataset))
      .map(one => below(who, 'folder', one.id, [...folders(one.dataset, one), ...filesAt(world, one.dataset, one)])),
  ]
}

/** All read requests of one caller in a world, with the expectations of the model. */
export const expectationsOf = (world: World, who: Person): readonly Expectation[] => [
  ...lists(world, who),
  ...world.state.spaces.flatMap(one => oneSpace(world, who, one)),
  ...world.state.collections.flatMap(one => oneCollection(world, who, one)),
  ...world.state.datasets.flatMap(one => oneDataset(world, who, one)),
  ...world.state.files.flatMap(one => oneFile(world, who, one)),
  ...tree(world, who),
]

/** The expected content of the ZIP of each dataset, for callers who may download it. */
export const archivesOf = (world: World): readonly { readonly path: string; readonly who: Person; readonly names: readonly string[] }[] =>
  world.state.datasets.filter(exists).flatMap(dataset =>
    people
      .filter(who => !isOutOfSight(dataset) && world.rights.may(who, 'DownloadFiles', dataset))
      .slice(0, 1)
      .map(who => ({
        who,
        path: `/api/datasets/${dataset.id}/download?tracking=false`,
        names: world.state.files.flatMap(file =>
          file.places.filter(place => place.dataset === dataset).map(({ folder }) => [...pathOf(folder), file.name].join('/')),
        ),
      })),
  )
