import { type Caller, Collections, type ContentCount, ContentCounts, type Contributions, Policy, Spaces, s, Users, wire } from 'pounce/sdk'
import { containersFor, contentsOf, FullTags, fullMembers, fullTags, fullViewOf, NamedContainer } from 'pounce/sdk/kit'
import type { Collected } from './collection.ts'
import { CollectionItem, CollectionViews, SingleCollection, toCollectionItem } from './collection-json.ts'

/** A collection with all related data. */
const FullCollection = s.model(
  'FullCollection',
  s.Object({
    ...fullMembers,
    modified: s.String({ description: 'ISO 8601, UTC' }),
    isPublic: s.Boolean({ description: 'In a public space' }),
    spaces: s.Array(NamedContainer, { description: 'Those that the caller may view' }),
    parents: s.Array(NamedContainer, { description: 'Those that the caller may view' }),
    rootOf: s.Array(NamedContainer, { description: 'The spaces of which it is a root collection' }),
    tags: FullTags,
    thumbnail: s.Union([s.String(), s.Null()]),
    counts: s.Object(
      { datasets: s.Integer(), collections: s.Integer() },
      { description: 'Beyond 10,000 as they were at most a minute ago' },
    ),
    trashedAt: s.Union([s.String(), s.Null()], { description: 'Since when it is in the trash' }),
    resource_type: s.Literal('collection'),
  }),
)
type FullCollection = s.Static<typeof FullCollection>

/** A collection in the format of v1's lists, or with `view=full`. */
export const CollectionView = s.Union([CollectionItem, FullCollection])

/** A collection in v1's format for a single one, or with `view=full`. */
export const SingleCollectionView = s.Union([SingleCollection, FullCollection])

/** Renders collections with related resources that the caller may view. */
export class FullCollectionViews {
  readonly #users: Users
  readonly #policy: Policy
  readonly #spaces: Spaces
  readonly #collections: Collections
  readonly #counts: Contributions<ContentCount>
  readonly #singles: CollectionViews

  constructor(
    users: Users,
    policy: Policy,
    spaces: Spaces,
    collections: Collections,
    counts: Contributions<ContentCount>,
    singles: CollectionViews,
  ) {
    this.#singles = singles
    this.#users = users
    this.#policy = policy
    this.#spaces = spaces
    this.#collections = collections
    this.#counts = counts
  }

  /** A renderer for lists of collections. */
  showing(caller: Caller, view: 'full' | undefined): (some: readonly Collected[]) => Promise<readonly s.Static<typeof CollectionView>[]> {
    return async some => (view === 'full' ? this.full(caller, some) : some.map(toCollectionItem))
  }

  /** Renders collections in v1's format for a single one. */
  singles(
    caller: Caller,
    view: 'full' | undefined,
  ): (some: readonly Collected[]) => Promise<readonly s.Static<typeof SingleCollectionView>[]> {
    return async some => (view === 'full' ? this.full(caller, some) : this.#singles.singles(caller, some))
  }

  async full(caller: Caller, some: readonly Collected[]): Promise<readonly FullCollection[]> {
    const [common, spaces, parents, counts] = await Promise.all([
      fullViewOf({ users: this.#users, policy: this.#policy }, caller, 'collection', some),
      containersFor(
        this.#policy,
        caller,
        'space',
        this.#spaces,
        some.flatMap(each => each.spaces),
      ),
      containersFor(
        this.#policy,
        caller,
        'collection',
        this.#collections,
        some.flatMap(each => each.parents),
      ),
      contentsOf(
        this.#counts,
        'collection',
        some.map(({ id }) => id),
        ['dataset', 'collection'],
      ),
    ])
    return some.map(collection => {
      const { created, modified = created, isPublic, thumbnail, trashedAt } = collection
      const { dataset = 0, collection: below = 0 } = counts.get(collection.id) ?? {}
      return {
        ...common(collection),
        ...{ modified, isPublic, spaces: spaces(collection.spaces), parents: parents(collection.parents) },
        ...{ rootOf: spaces(collection.rootSpaces), tags: fullTags(collection.tags), thumbnail },
        ...{ counts: { datasets: dataset, collections: below }, trashedAt },
        resource_type: 'collection',
      }
    })
  }
}
wire(FullCollectionViews, Users, Policy, Spaces, Collections, ContentCounts, CollectionViews)
