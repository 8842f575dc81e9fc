import { CachedCounts } from './cached-counts.ts'
import type { EventType } from './events.ts'
import { anonymousUserId, type Caller } from './model/caller.ts'
import type { Kind, Ref } from './model/kind.ts'
import type { Permission } from './model/permission.ts'
import { type Class, type Contributions, type Provision, provide } from './port.ts'
import {
  type ContentCount,
  ContentCounts,
  nonEmptyContainers,
  type Searchable,
  Searchables,
  type TrashHandler,
  TrashHandlers,
  type TreeBranch,
  TreeBranches,
  type TreeNode,
  type TreeParent,
} from './ports/contributed.ts'
import { type After, type Collection, DocumentStore, type Find, type Page, type Stored, type Where } from './ports/document-store.ts'
import { PersonalDataSources, type PersonalRecords, personalRecords } from './ports/personal-data.ts'
import { Policy, type Resource, type ResourceDescription, Resources, type Rights, type RightsSource } from './ports/policy.ts'
import { type ReportSource, ReportSources } from './ports/reports.ts'
import { type RecordSearch, recordSearchable } from './record-searchable.ts'
import { wire } from './wire.ts'

/** Finds the resources directly in a container, given its id. */
export type ContentQuery = (container: string) => Pick<Find, 'using' | 'where'>

/** Finds the resources directly below a parent in the tree for a caller; none for parents that cannot contain any. */
export interface TreeContents<T extends object> {
  below(caller: Caller, parent: TreeParent, page: { readonly after?: After; readonly limit: number }): Promise<Page<T & Stored>>
}

/** How a resource appears in the tree. */
export interface TreeDefinition<T extends object> {
  /** Absent: the resources that `counts` finds in the parent, ordered by `sort`. */
  readonly contents?: Class<TreeContents<T>>
  readonly sort?: NonNullable<Find['sort']>
  readonly node: (record: T & Stored) => Pick<TreeNode, 'name' | 'data'>
  /** Such a resource has no children. */
  readonly isLeaf?: boolean
}

/** The declaration of a kind of resource. Only `kind`, `view` and the rights are required. */
interface CommonDefinition<T extends object> {
  readonly kind: Kind
  /** The permission without which resources of this kind appear not to exist. */
  readonly view: Permission
  /** The name of a resource in recommendations; undefined to leave it out. Absent: resources of this kind are not recommended. */
  readonly follow?: (record: T & Stored) => string | undefined
  /** For each kind of container, a query for the resources directly in it. Kinds of containers that are not listed count 0. */
  readonly counts?: Readonly<Partial<Record<Kind, ContentQuery>>>
  /** For each kind of container, a query for the resources anywhere below it. If set, these are counted, and `counts` only serves the tree. */
  readonly countsBelow?: Readonly<Partial<Record<Kind, ContentQuery>>>
  /** The name of a resource in events and the feed. Required with `events`. */
  readonly name?: (record: T & Stored) => string
  /**
   * The types of its events, for the live stream, webhooks, the feed and the search index: `instrument.created`, `instrument.updated` with `fields`, and
   * `instrument.removed` with its last `name` and `within`, its containers, such as `[{ kind: 'space', id }]`. They need not be listed in `events` of the
   * plugin.
   */
  readonly events?: readonly EventType[]
  readonly search?: Class<Searchable> | RecordSearch<T>
  readonly tree?: TreeDefinition<T>
  readonly trash?: Class<TrashHandler>
  /** Reports read the index `byCreated` of the collection; see `ReportSource`. */
  readonly report?: { readonly where?: readonly Where[]; readonly inSpace?: ContentQuery }
  readonly personalData?: Omit<PersonalRecords<T>, 'in'>
  /** Resources that a record refers to, besides the author, spaces and parents in `rights`. `pounce doctor` reports references to resources that do not exist. */
  readonly references?: (record: T & Stored) => readonly Ref[]
}

/** Rights are computed from the record alone; if they depend on more, a class reads them. */
export type ResourceDefinition<T extends object> = CommonDefinition<T> & { readonly collection: Collection<T> } & (
    | { readonly rights: (record: T & Stored) => Rights | undefined }
    | { readonly rightsSource: Class<RightsSource> }
  )

/** A kind of resource whose records are parts of others; only its rights can be declared. */
export type DependentDefinition = Pick<CommonDefinition<never>, 'kind' | 'view'> & { readonly rightsSource: Class<RightsSource> }

/** The result of `defineResource`, for `definePlugin({ resources: [dataset] })`. */
export interface ResourceDeclaration {
  readonly kind: Kind
  readonly view: Permission
  readonly collections: readonly Collection<object>[]
  /** The types of its events. */
  readonly events: readonly EventType[]
  /** The contributions generated from the definition. */
  readonly provides: readonly Provision[]
}

const kindPattern = /^[a-z][a-z-]{1,49}$/

/** Declares a kind of resource. Policy, search, tree, trash, follow recommendations, reports and personal data use the declaration. */
export function defineResource(definition: DependentDefinition): ResourceDeclaration
export function defineResource<T extends object>(definition: ResourceDefinition<T>): ResourceDeclaration
export function defineResource<T extends object>(definition: ResourceDefinition<T> | DependentDefinition): ResourceDeclaration {
  const { kind, view } = definition
  if (!kindPattern.test(kind))
    throw new Error(`The name of a kind of resource must consist of lower-case letters and hyphens, such as instrument, not "${kind}"`)
  if (!('collection' in definition))
    return { kind, view, events: [], collections: [], provides: [provide(Resources, dependentResource(definition))] }
  const { collection, counts, countsBelow, tree, search, trash, report, personalData, events = [] } = definition
  const foreign = events.find(type => !type.startsWith(`${kind}.`))
  if (events.length > 0 && !definition.name)
    throw new Error(`The kind ${kind} has events, so it needs a name for them: name: ({ title }) => title`)
  if (foreign !== undefined) throw new Error(`The kind ${kind} declares the event type ${foreign}, which must begin with "${kind}."`)
  return {
    kind,
    view,
    events,
    collections: [collection],
    provides: [
      provide(Resources, recordResource(definition)),
      ...(counts ? [provide(ContentCounts, contentCount(kind, collection, { ...counts, ...countsBelow }))] : []),
      ...(tree
        ? [provide(TreeBranches, treeBranch(kind, tree, tree.contents ?? countedContents(kind, collection, counts ?? {}, tree.sort)))]
        : []),
      ...(search ? [provide(Searchables, 'entry' in search ? recordSearchable(kind, collection, search) : search)] : []),
      ...(trash ? [provide(TrashHandlers, trash)] : []),
      ...(report ? [provide(ReportSources, reportSource(kind, collection, report))] : []),
      ...(personalData ? [provide(PersonalDataSources, personalRecords({ ...personalData, in: collection }))] : []),
    ],
  }
}

const dependentResource = ({ kind, view, rightsSource }: DependentDefinition): Class<Resource> => {
  class DependentResource implements Resource {
    readonly kind = kind
    readonly view = view
    readonly isSearched = false
    readonly events = []
    readonly #rights: RightsSource

    constructor(rights: RightsSource) {
      this.#rights = rights
    }

    rightsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Rights>> {
      return this.#rights.rightsOf(ids)
    }
  }
  wire(DependentResource, rightsSource)
  return DependentResource
}

const recordResource = <T extends object>(definition: ResourceDefinition<T>): Class<Resource> => {
  const { kind, view, collection, follow, name, search, references, events = [] } = definition
  const rightsIn = 'rights' in definition ? definition.rights : () => undefined
  class RecordResource implements Resource {
    readonly kind = kind
    readonly view = view
    readonly isSearched = search !== undefined
    readonly events = events
    readonly references: NonNullable<Resource['references']> = {
      in: collection,
      of: record => [...referencesIn(kind, rightsIn(record as T & Stored)), ...(references?.(record as T & Stored) ?? [])],
    }
    readonly namesOf?: NonNullable<Resource['namesOf']>
    readonly describe?: NonNullable<Resource['describe']>
    readonly #rights: RightsSource

    constructor(documents: DocumentStore, rights: RightsSource) {
      this.#rights = rights
      if (follow) this.namesOf = async ids => mapped(await documents.getMany(collection, ids), follow)
      if (name)
        this.describe = async ids => {
          const [found, held] = await Promise.all([documents.getMany(collection, ids), rights.rightsOf(ids)])
          return mapped(found, record => describe(name(record), held.get(record.id)))
        }
    }

    rightsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Rights>> {
      return this.#rights.rightsOf(ids)
    }
  }
  wire(RecordResource, DocumentStore, 'rights' in definition ? recordRights(collection, definition.rights) : definition.rightsSource)
  return RecordResource
}

/** A space has rights in itself; anonymous authors have no account. */
const referencesIn = (kind: Kind, rights: Rights | undefined): readonly Ref[] => {
  if (!rights) return []
  const { author, spaces, parents = [] } = rights
  const authors = author === '' || author === anonymousUserId ? [] : [author]
  return [
    ...parents,
    ...authors.map((id): Ref => ({ kind: 'user', id })),
    ...(kind === 'space' ? [] : spaces.map((id): Ref => ({ kind: 'space', id }))),
  ]
}

const describe = (name: string, rights: Rights | undefined): ResourceDescription | undefined =>
  rights && { name, author: rights.author, spaces: rights.spaces, within: rights.parents ?? [] }

const recordRights = <T extends object>(
  collection: Collection<T>,
  rights: (record: T & Stored) => Rights | undefined,
): Class<RightsSource> => {
  class RecordRights implements RightsSource {
    readonly #documents: DocumentStore

    constructor(documents: DocumentStore) {
      this.#documents = documents
    }

    async rightsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Rights>> {
      return mapped(await this.#documents.getMany(collection, ids), rights)
    }
  }
  wire(RecordRights, DocumentStore)
  return RecordRights
}

/** Maps the values; entries for which `by` returns undefined are left out. */
const mapped = <A, B>(found: ReadonlyMap<string, A>, by: (value: A) => B | undefined): ReadonlyMap<string, B> => {
  const result = new Map<string, B>()
  for (const [id, value] of found) {
    const given = by(value)
    if (given !== undefined) result.set(id, given)
  }
  return result
}

const contentCount = <T extends object>(
  kind: Kind,
  collection: Collection<T>,
  counts: Readonly<Partial<Record<Kind, ContentQuery>>>,
): Class<ContentCount> => {
  class RecordCount implements ContentCount {
    readonly kind = kind
    readonly #documents: DocumentStore
    readonly #cached = new CachedCounts()

    constructor(documents: DocumentStore) {
      this.#documents = documents
    }

    async countIn(container: Ref, upTo?: number): Promise<number> {
      const query = counts[container.kind]?.(container.id)
      if (query === undefined) return 0
      const counting = (limit: number) => this.#documents.count(collection, { ...query, upTo: limit })
      return upTo === undefined ? this.#cached.count(container.id, counting) : counting(upTo)
    }
  }
  wire(RecordCount, DocumentStore)
  return RecordCount
}

/** Counts only children that the caller may view: only the right to view the parent was checked, and it may differ. */
const countedContents = <T extends object>(
  of: Kind,
  collection: Collection<T>,
  counts: Readonly<Partial<Record<Kind, ContentQuery>>>,
  sort: Find['sort'],
): Class<TreeContents<T>> => {
  class CountedContents implements TreeContents<T> {
    readonly #documents: DocumentStore
    readonly #policy: Policy

    constructor(documents: DocumentStore, policy: Policy) {
      this.#documents = documents
      this.#policy = policy
    }

    async below(caller: Caller, { kind, id }: TreeParent, page: { readonly after?: After; readonly limit: number }) {
      const query = kind === 'root' || id === undefined ? undefined : counts[kind]?.(id)
      if (query === undefined) return { items: [] }
      const { items, next } = await this.#documents.find(collection, { ...query, ...(sort ? { sort } : {}), ...page })
      const ids = items.map(each => each.id)
      const seen = await this.#policy.seen(caller, of, ids)
      return { items: items.filter(each => seen.has(each.id)), ...(next ? { next } : {}) }
    }
  }
  wire(CountedContents, DocumentStore, Policy)
  return CountedContents
}

const treeBranch = <T extends object>(
  kind: Kind,
  { node, isLeaf = false }: TreeDefinition<T>,
  contents: Class<TreeContents<T>>,
): Class<TreeBranch> => {
  class RecordBranch implements TreeBranch {
    readonly kind = kind
    readonly #contents: TreeContents<T>
    readonly #counts: Contributions<ContentCount>

    constructor(contents: TreeContents<T>, counts: Contributions<ContentCount>) {
      this.#contents = contents
      this.#counts = counts
    }

    async below(parent: TreeParent, caller: Caller, page: { readonly after?: After; readonly limit: number }): Promise<Page<TreeNode>> {
      const { items, next } = await this.#contents.below(caller, parent, page)
      const ids = isLeaf ? [] : items.map(({ id }) => id)
      const holding = await nonEmptyContainers(this.#counts, kind, ids)
      const nodes = items.map(record => ({ kind, id: record.id, hasChildren: holding.has(record.id), ...node(record) }))
      return { items: nodes, ...(next ? { next } : {}) }
    }
  }
  wire(RecordBranch, contents, ContentCounts)
  return RecordBranch
}

const reportSource = <T extends object>(
  kind: Kind,
  records: Collection<T>,
  { where = [], inSpace }: NonNullable<CommonDefinition<T>['report']>,
): Class<ReportSource> =>
  class RecordReport implements ReportSource {
    readonly kind = kind
    readonly records = records
    readonly byCreated = { using: 'byCreated', where }
    readonly inSpace?: NonNullable<ReportSource['inSpace']> = inSpace
  }
