import {
  type Caller,
  type Contributions,
  DocumentStore,
  eq,
  isIn,
  NotFound,
  or,
  type Page,
  Policy,
  type Resource,
  Resources,
  type Where,
  wire,
} from 'pounce/sdk'
import { type ListPage, type ListQuery, listPage, type TreeParent, unionOf, type Visible, visibleOf } from 'pounce/sdk/kit'
import { type Collected, collections } from './collection.ts'
import { CollectionTree } from './collection-tree.ts'

const all = ['byCreated', 'bySpace', 'byAuthor', 'byPublic']
const top = ['topByCreated', 'topBySpace', 'topByAuthor', 'topByPublic']
const nothing: Page<Collected> = { items: [] }
/** Maximum number of documents read without a match for one page of the tree. */
const maxScannedInTree = 1000
type Using = string | readonly string[]

/** Lists collections. */
export class CollectionLists {
  #documents: DocumentStore
  #policy: Policy
  #tree: CollectionTree
  #resources: Contributions<Resource>

  constructor(documents: DocumentStore, policy: Policy, tree: CollectionTree, resources: Contributions<Resource>) {
    this.#documents = documents
    this.#policy = policy
    this.#tree = tree
    this.#resources = resources
  }

  /** Top-level collections that the caller may view. */
  topLevel(caller: Caller, query: ListQuery, ...where: readonly Where[]): Promise<Page<Collected>> {
    return this.#page(this.#seen(caller), query, top, caller, eq('isTopLevel', true), ...where)
  }

  /** All collections that the caller may view, nested ones included; without `showAll` only the caller's own and those of their spaces. */
  everywhere(caller: Caller, query: ListQuery, { showAll }: { readonly showAll: boolean }): Promise<Page<Collected>> {
    const { user } = caller
    if (!user) return Promise.resolve(nothing)
    const seen = this.#seen(caller)
    if (showAll || seen === 'nothing') return this.#page(seen, query, all, caller)
    const viewableSpaces = user.memberships.filter(({ permissions }) => permissions.has('ViewCollection')).map(({ space }) => space)
    const limit = caller.limits?.spaces
    const within = limit === undefined ? [] : [isIn('spaces', [...limit])]
    return this.#page(or(isIn('spaces', viewableSpaces), eq('author', user.id)), query, all, caller, ...within)
  }

  /** Collections that the caller may add to or change, at any depth. */
  editable(caller: Caller, query: ListQuery, ...where: readonly Where[]): Promise<Page<Collected>> {
    const adding = this.#policy.visibleTo(caller, 'AddResourceToCollection')
    return this.#page(unionOf(adding, this.#policy.visibleTo(caller, 'EditCollection')), query, all, caller, ...where)
  }

  /** Possible parents of a collection: editable, neither itself nor an ancestor or descendant, and in one of its spaces if it has any. */
  async possibleParents(caller: Caller, id: string, query: ListQuery): Promise<Page<Collected>> {
    const current = await this.#documents.get(collections, id)
    if (!current) throw new NotFound('collection')
    const above = await this.#tree.ancestorsOf(id)
    const page = await this.editable(caller, query, ...this.#sharing(current.spaces))
    const below = await this.#tree.amongBelow(page.items, id)
    return { ...page, items: page.items.filter(one => one.id !== id && !above.has(one.id) && !below.has(one.id)) }
  }

  /** Possible parents of a dataset: editable, and in one of its spaces if it has any. */
  async possibleParentsOfDataset(caller: Caller, dataset: string, query: ListQuery): Promise<Page<Collected>> {
    const rights = this.#resources.all().find(source => source.kind === 'dataset')
    const found = (await rights?.rightsOf([dataset]))?.get(dataset)
    if (!found) throw new NotFound('dataset')
    return this.editable(caller, query, ...this.#sharing(found.spaces))
  }

  /** Root collections of a space. */
  inSpace(caller: Caller, space: string, query: ListQuery): Promise<Page<Collected>> {
    return this.#page(this.#seen(caller), query, 'byRootSpace', caller, eq('rootSpaces', space))
  }

  /** Direct children of a collection. */
  childrenOf(caller: Caller, id: string, query: ListQuery): Promise<Page<Collected>> {
    return this.#page(this.#seen(caller), query, 'byParent', caller, eq('parents', id))
  }

  /** Direct children of a tree node; at the root, the caller's own that are in no space and no collection. A page may be short. */
  async below(caller: Caller, { kind, id, mine }: TreeParent, page: ListQuery): Promise<Page<Collected>> {
    const query = { ...page, maxScanned: maxScannedInTree }
    const author = eq('author', caller.user?.id ?? null)
    const own = mine ? [author] : []
    const seen = this.#seen(caller)
    if (kind === 'root') return this.#page(seen, query, 'topBySpaceAndAuthor', caller, author, eq('spaces', null), eq('isTopLevel', true))
    if (kind === 'space' && id !== undefined) return this.#page(seen, query, 'byRootSpace', caller, eq('rootSpaces', id), ...own)
    if (kind === 'collection' && id !== undefined) return this.#page(seen, query, 'byParent', caller, eq('parents', id), ...own)
    return { items: [] }
  }

  /** Direct parents of a collection. */
  async parentsOf(caller: Caller, id: string): Promise<readonly Collected[]> {
    const current = await this.#documents.get(collections, id)
    if (!current) throw new NotFound('collection')
    return this.visible(caller, current.parents)
  }

  /** Whether a collection is in a space through one of its parents; those in the trash show nothing there. */
  async hasParentIn(one: Collected, space: string): Promise<boolean> {
    const parents = await this.#documents.getMany(collections, one.parents)
    return [...parents.values()].some(parent => parent.state === 'live' && parent.spaces.includes(space))
  }

  /** The given collections that exist and that the caller may view, in the given order. */
  async visible(caller: Caller, ids: readonly string[]): Promise<readonly Collected[]> {
    const found = await this.#documents.getMany(collections, ids)
    const allowed = await this.#policy.allowed(caller, 'ViewCollection', 'collection', [...found.keys()])
    return ids.flatMap(id => found.get(id) ?? []).filter(one => one.state === 'live' && allowed.has(one.id))
  }

  #sharing(spaces: readonly string[]): readonly Where[] {
    return spaces.length === 0 ? [] : [isIn('spaces', spaces)]
  }

  #seen(caller: Caller): Visible {
    return this.#policy.visibleTo(caller, 'ViewCollection')
  }

  async #page(visible: Visible, query: ListQuery, using: Using, caller: Caller, ...where: readonly Where[]): Promise<ListPage<Collected>> {
    const seen = visibleOf(caller, 'ViewCollection', query, visible)
    // A key without the verb `read` lists nothing, regardless of its other verbs.
    if (seen === 'nothing' || this.#seen(caller) === 'nothing') return nothing
    return listPage({ documents: this.#documents, from: collections, using, where: [...where, ...seen] }, query)
  }
}
wire(CollectionLists, DocumentStore, Policy, CollectionTree, Resources)
