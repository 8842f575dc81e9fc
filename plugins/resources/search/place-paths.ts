import { type Caller, Collections, Datasets, Folders, type Kind, Policy, type Ref, Spaces, wire } from 'pounce/sdk'

/** A container on the path to a resource. */
export interface PlaceStep {
  readonly kind: Kind
  readonly id: string
  readonly name: string
}

/** A container that was read: its name and its own containers, in order of preference. */
interface Container {
  readonly name: string
  readonly containers: readonly Ref[]
}

/** Maximum number of records that a store reads at once. */
const readTogether = 1000
const maxFolderDepth = 100

/**
 * The locations of resources, by names, for a page at a time: a few reads per kind of container, independent of the number of resources.
 */
export class PlacePaths {
  #policy: Policy
  #spaces: Spaces
  #collections: Collections
  #datasets: Datasets
  #folders: Folders

  constructor(policy: Policy, spaces: Spaces, collections: Collections, datasets: Datasets, folders: Folders) {
    this.#policy = policy
    this.#spaces = spaces
    this.#collections = collections
    this.#datasets = datasets
    this.#folders = folders
  }

  /**
   * For each list of containers, the path to the first one that the caller may view, outermost first: space or collection, dataset,
   * folders.
   */
  async of(lists: readonly (readonly Ref[])[], caller: Caller): Promise<readonly (readonly PlaceStep[])[]> {
    const all = lists.flat()
    const folders = await this.#foldersAbove(idsOf('folder', all))
    const topmost = [...folders.values()].flatMap(({ containers }) => containers)
    const datasets = await this.#seen('dataset', idsOf('dataset', [...all, ...topmost]), caller, async ids =>
      mapValues(await this.#datasets.getMany(ids), ({ name, spaces, collections }) => ({
        name,
        containers: [...spaces.map((id): Ref => ({ kind: 'space', id })), ...collections.map((id): Ref => ({ kind: 'collection', id }))],
      })),
    )
    const outer = [...all, ...[...datasets.values()].flatMap(({ containers }) => containers)]
    const [spaces, collections] = await Promise.all([
      this.#seen('space', idsOf('space', outer), caller, async ids => mapValues(await this.#spaces.getMany(ids), outermost)),
      this.#seen('collection', idsOf('collection', outer), caller, async ids => mapValues(await this.#collections.getMany(ids), outermost)),
    ])
    const known: Readonly<Partial<Record<Kind, ReadonlyMap<string, Container>>>> = {
      folder: folders,
      dataset: datasets,
      space: spaces,
      collection: collections,
    }
    return lists.map(containers => pathTo(containers, known))
  }

  /** The containers that the caller may view; those in the trash are excluded. */
  async #seen(
    kind: Kind,
    ids: readonly string[],
    caller: Caller,
    read: (ids: readonly string[]) => Promise<ReadonlyMap<string, Container>>,
  ): Promise<ReadonlyMap<string, Container>> {
    const seen = [...(await this.#policy.seen(caller, kind, ids, 'frozen'))]
    const found = new Map<string, Container>()
    for (let at = 0; at < seen.length; at += readTogether)
      for (const [id, container] of await read(seen.slice(at, at + readTogether))) found.set(id, container)
    return found
  }

  /** The folders and their ancestors, one level at a time. Folders have the rights of their dataset. */
  async #foldersAbove(ids: readonly string[]): Promise<ReadonlyMap<string, Container>> {
    const found = new Map<string, Container>()
    let level = ids
    for (let depth = 0; level.length > 0 && depth < maxFolderDepth; depth += 1) {
      const above = new Set<string>()
      for (let at = 0; at < level.length; at += readTogether) {
        for (const [id, { displayName, parent }] of await this.#folders.getMany(level.slice(at, at + readTogether))) {
          found.set(id, { name: displayName, containers: [parent] })
          if (parent.kind === 'folder' && !found.has(parent.id)) above.add(parent.id)
        }
      }
      level = [...above]
    }
    return found
  }
}
wire(PlacePaths, Policy, Spaces, Collections, Datasets, Folders)

const idsOf = (kind: Kind, refs: readonly Ref[]): readonly string[] => [
  ...new Set(refs.filter(ref => ref.kind === kind).map(({ id }) => id)),
]

const outermost = ({ name }: { readonly name: string }): Container => ({ name, containers: [] })

const mapValues = <T>(found: ReadonlyMap<string, T>, by: (value: T) => Container): ReadonlyMap<string, Container> =>
  new Map([...found].map(([id, value]) => [id, by(value)]))

const pathTo = (
  containers: readonly Ref[],
  known: Readonly<Partial<Record<Kind, ReadonlyMap<string, Container>>>>,
  depth = 0,
): readonly PlaceStep[] => {
  if (depth > maxFolderDepth) return []
  for (const { kind, id } of containers) {
    const container = known[kind]?.get(id)
    if (!container) continue
    const above = pathTo(container.containers, known, depth + 1)
    // A folder is visible only with its dataset.
    if (kind === 'folder' && above.length === 0) continue
    return [...above, { kind, id, name: container.name }]
  }
  return []
}
