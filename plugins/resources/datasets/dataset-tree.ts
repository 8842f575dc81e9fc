import { type Caller, Collections, type Page, wire } from 'pounce/sdk'
import type { ListQuery, TreeContents, TreeParent } from 'pounce/sdk/kit'
import type { Dataset } from './collection.ts'
import { DatasetLists } from './dataset-lists.ts'

/** Datasets in the tree: in a collection, in a space but in no collection of it, and at the root those of the caller that are in neither. */
export class DatasetTree implements TreeContents<Dataset> {
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

  /** Those that no collection of the space holds: the others show below their collection. */
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
