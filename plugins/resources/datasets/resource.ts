import { and, type Caller, Collections, type DatasetRecord, defineResource, eq, event, isIn, type Page, wire } from 'pounce/sdk'
import { createdOrTaggedBy, type ListQuery, type TreeContents, type TreeParent, transferred } from 'pounce/sdk/kit'
import { type Dataset, datasets } from './collection.ts'
import { DatasetLists } from './dataset-lists.ts'
import { DatasetTrash } from './dataset-trash.ts'
import { SearchableDatasets } from './searchable-datasets.ts'

/** Datasets in the tree: in a collection, in a space but in no collection of it, and at the root the caller's own that are in neither. */
class DatasetTree implements TreeContents<Dataset> {
  #lists: DatasetLists
  #collections: Collections

  constructor(lists: DatasetLists, collections: Collections) {
    this.#lists = lists
    this.#collections = collections
  }

  async below(caller: Caller, parent: TreeParent, page: ListQuery): Promise<Page<Dataset>> {
    const found = await this.#lists.below(caller, parent, page)
    if (parent.kind !== 'space' || parent.id === undefined) return found
    return { ...found, items: await this.#loose(found.items, parent.id) }
  }

  /** Datasets that are in no collection of the space: the others are listed below their collection. */
  async #loose(datasets: readonly Dataset[], space: string): Promise<readonly Dataset[]> {
    const ids = [...new Set(datasets.flatMap(dataset => dataset.collections))]
    const inSpace = new Set<string>()
    for (let at = 0; at < ids.length; at += 1000) {
      for (const [id, { spaces, state }] of await this.#collections.getMany(ids.slice(at, at + 1000))) {
        if (state === 'live' && spaces.includes(space)) inSpace.add(id)
      }
    }
    return datasets.filter(dataset => !dataset.collections.some(id => inSpace.has(id)))
  }
}
wire(DatasetTree, DatasetLists, Collections)

const live = eq('state', 'live')

export const datasetResource = defineResource<DatasetRecord>({
  kind: 'dataset',
  collection: datasets,
  view: 'ViewDataset',
  // A dataset that is being imported does not exist for any caller.
  rights: ({ author, spaces, isPublic, state }) => (state === 'importing' ? undefined : { author, spaces, isPublic, state }),
  follow: ({ name, state }) => (state === 'live' ? name : undefined),
  counts: {
    space: id => ({ using: 'bySpace', where: and(live, eq('spaces', id)) }),
    collection: id => ({ using: 'byCollection', where: and(live, eq('collections', id)) }),
  },
  search: SearchableDatasets,
  tree: { contents: DatasetTree, node: ({ name, author, spaces }) => ({ name, data: { authorId: author, spaces } }) },
  trash: DatasetTrash,
  references: ({ collections }) => collections.map(id => ({ kind: 'collection', id })),
  report: {
    where: [live],
    // Datasets in the trash are not in activity reports, but they use storage.
    inSpace: id => ({ using: 'bySpace', where: and(isIn('state', ['live', 'trashed']), eq('spaces', id)) }),
  },
  personalData: {
    name: 'datasets',
    summary: 'Datasets that you created, and tags that you added to others.',
    ...createdOrTaggedBy<DatasetRecord>(
      ...(['name', 'description', 'created', 'modified', 'spaces', 'collections', 'creators', 'license', 'state'] as const),
    ),
    erase: transferred(id => [event('dataset.updated', { kind: 'dataset', id }, { fields: ['author'] })]),
  },
})
