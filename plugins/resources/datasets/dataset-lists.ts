import { type Caller, DocumentStore, eq, exists, isIn, ne, not, type Page, Policy, s, type Where, wire } from 'pounce/sdk'
import { type ListPage, type ListQuery, listPage, type TreeParent, unionOf, type Visible, visibleOf } from 'pounce/sdk/kit'
import { type Dataset, datasets } from './collection.ts'

const all = ['byCreated', 'bySpace', 'byAuthor', 'byPublic']

/** Maximum number of documents read without a match for one page of the tree. */
const maxScannedInTree = 1000

/** Lists datasets, excluding those in the trash. */
export class DatasetLists {
  #documents: DocumentStore
  #policy: Policy

  constructor(documents: DocumentStore, policy: Policy) {
    this.#documents = documents
    this.#policy = policy
  }

  /** Datasets that the caller may view. */
  visible(caller: Caller, query: ListQuery): Promise<ListPage<Dataset>> {
    return this.#page(this.#seen(caller), query, all, caller)
  }

  /** Datasets that the caller may add to or change. */
  editable(caller: Caller, query: ListQuery): Promise<Page<Dataset>> {
    const adding = this.#policy.visibleTo(caller, 'AddResourceToDataset')
    return this.#page(unionOf(adding, this.#policy.visibleTo(caller, 'EditDataset')), query, all, caller)
  }

  /** Datasets that the caller may add to; if spaces are given, only those in one of them. */
  addable(caller: Caller, query: ListQuery, spaces?: readonly string[]): Promise<Page<Dataset>> {
    const adding = this.#policy.visibleTo(caller, 'AddResourceToDataset')
    return spaces ? this.#page(adding, query, 'bySpace', caller, isIn('spaces', spaces)) : this.#page(adding, query, all, caller)
  }

  /** Datasets that the caller may view and that are not in a collection. */
  outside(caller: Caller, collection: string, query: ListQuery): Promise<Page<Dataset>> {
    return this.#page(this.#seen(caller), query, all, caller, ne('collections', collection))
  }

  /** Datasets in a space that the caller may view. */
  inSpace(caller: Caller, space: string, query: ListQuery): Promise<ListPage<Dataset>> {
    return this.#page(this.#seen(caller), query, 'bySpace', caller, eq('spaces', space))
  }

  /** Datasets in a collection that the caller may view. */
  inCollection(caller: Caller, collection: string, query: ListQuery): Promise<ListPage<Dataset>> {
    return this.#page(this.#seen(caller), query, 'byCollection', caller, eq('collections', collection))
  }

  /** Direct children of a tree node; at the root, the caller's own datasets that are in no space and no collection. A page may be short. */
  async below(caller: Caller, { kind, id, mine }: TreeParent, page: ListQuery): Promise<Page<Dataset>> {
    const query = { ...page, maxScanned: maxScannedInTree }
    const own = eq('author', caller.user?.id ?? null)
    const seen = this.#seen(caller)
    if (kind === 'root') return this.#page(seen, query, 'bySpaceAndAuthor', caller, own, eq('spaces', null), not(exists('collections')))
    if (kind === 'space' && id !== undefined) {
      const inSpace = eq('spaces', id)
      return mine ? this.#page(seen, query, 'bySpaceAndAuthor', caller, inSpace, own) : this.#page(seen, query, 'bySpace', caller, inSpace)
    }
    if (kind === 'collection' && id !== undefined)
      return this.#page(seen, query, 'byCollection', caller, eq('collections', id), ...(mine ? [own] : []))
    return { items: [] }
  }

  #seen(caller: Caller): Visible {
    return this.#policy.visibleTo(caller, 'ViewDataset')
  }

  async #page(
    visible: Visible,
    query: ListQuery,
    using: string | readonly string[],
    caller: Caller,
    ...where: readonly Where[]
  ): Promise<ListPage<Dataset>> {
    const seen = visibleOf(caller, 'ViewDataset', query, visible)
    // A key without the verb `read` lists nothing, regardless of its other verbs.
    if (seen === 'nothing' || this.#seen(caller) === 'nothing') return { items: [] }
    return listPage({ documents: this.#documents, from: datasets, using, where: [...where, ...seen] }, query)
  }
}
wire(DatasetLists, DocumentStore, Policy)

/** A dataset in v1's only format (reference, api-data §3a). */
export const DatasetItem = s.model(
  'Dataset',
  s.Object({
    id: s.String(),
    name: s.String(),
    description: s.String(),
    created: s.v1Date(),
    thumbnail: s.Union([s.String(), s.Null()]),
    authorId: s.String(),
    spaces: s.Array(s.String()),
    resource_type: s.Literal('dataset'),
  }),
)

export const toDatasetItem = (dataset: Dataset): s.Static<typeof DatasetItem> => ({
  id: dataset.id,
  name: dataset.name,
  description: dataset.description,
  created: s.toV1Date(dataset.created),
  thumbnail: dataset.thumbnail,
  authorId: dataset.author,
  spaces: [...dataset.spaces],
  resource_type: 'dataset',
})
