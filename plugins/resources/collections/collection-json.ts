import { type Caller, type ContentCount, ContentCounts, type Contributions, Policy, s, Users, wire } from 'pounce/sdk'
import { countIn, peopleFor, type ShownPerson } from 'pounce/sdk/kit'
import type { Collected } from './collection.ts'
import { CollectionLists } from './collection-lists.ts'

/** A collection in lists. */
export const CollectionItem = s.model(
  'Collection',
  s.Object({
    id: s.String(),
    collectionname: s.String(),
    description: s.String(),
    created: s.v1Date(),
    thumbnail: s.Union([s.String(), s.Null()]),
    authorId: s.String(),
    resource_type: s.Literal('collection'),
  }),
)

export const toCollectionItem = (one: Collected): s.Static<typeof CollectionItem> => ({
  id: one.id,
  collectionname: one.name,
  description: one.description,
  created: s.toV1Date(one.created),
  thumbnail: one.thumbnail,
  authorId: one.author,
  resource_type: 'collection',
})

/** A single collection: as in v1 all values are strings, and lists are formatted as in Scala. */
export const SingleCollection = s.model(
  'CollectionDetails',
  s.Object({
    id: s.String(),
    name: s.String(),
    description: s.String(),
    created: s.v1Date(),
    author: s.String({
      description: '`MiniUser(<id>,<name>,<avatar>,Some(<email>))`; `None` instead of the address for callers who may not view the account',
    }),
    root_flag: s.String({ description: '`true` for a root collection of a space' }),
    child_collection_ids: s.String({ description: '`List(id1, id2)`' }),
    parent_collection_ids: s.String(),
    childCollectionsCount: s.String(),
    datasetCount: s.String(),
    spaces: s.String(),
  }),
)

/** Data about the surroundings of a collection. */
export interface CollectionContext {
  readonly author: ShownPerson
  readonly children: readonly string[]
  readonly parents: readonly string[]
  readonly childCount: number
  readonly datasetCount: number
}

const listText = (ids: readonly string[]): string => `List(${ids.join(', ')})`

const authorText = ({ id, fullName, avatarURL, email }: ShownPerson): string =>
  `MiniUser(${id},${fullName},${avatarURL},${email === undefined ? 'None' : `Some(${email})`})`

const toSingleCollection = (one: Collected, around: CollectionContext): s.Static<typeof SingleCollection> => ({
  id: one.id,
  name: one.name,
  description: one.description,
  created: s.toV1Date(one.created),
  author: authorText(around.author),
  root_flag: String(one.rootSpaces.length > 0),
  child_collection_ids: listText(around.children),
  parent_collection_ids: listText(around.parents),
  childCollectionsCount: String(around.childCount),
  datasetCount: String(around.datasetCount),
  spaces: listText(one.spaces),
})

/** Renders single collections with related resources that the caller may view. */
export class CollectionViews {
  #users: Users
  #policy: Policy
  #lists: CollectionLists
  #counts: Contributions<ContentCount>

  constructor(users: Users, policy: Policy, lists: CollectionLists, counts: Contributions<ContentCount>) {
    this.#users = users
    this.#policy = policy
    this.#lists = lists
    this.#counts = counts
  }

  async single(caller: Caller, one: Collected): Promise<s.Static<typeof SingleCollection>> {
    const [view] = await this.singles(caller, [one])
    return view as s.Static<typeof SingleCollection>
  }

  async singles(caller: Caller, some: readonly Collected[]): Promise<s.Static<typeof SingleCollection>[]> {
    const person = await peopleFor(
      this.#users,
      this.#policy,
      caller,
      some.map(one => one.author),
    )
    const views: s.Static<typeof SingleCollection>[] = []
    for (const one of some) {
      const children = await this.#lists.childrenOf(caller, one.id, { limit: 0 })
      const parents = await this.#lists.visible(caller, one.parents)
      views.push(
        toSingleCollection(one, {
          author: person(one.author),
          children: children.items.map(child => child.id),
          parents: parents.map(parent => parent.id),
          childCount: children.next ? await countIn(this.#counts, 'collection', { kind: 'collection', id: one.id }) : children.items.length,
          datasetCount: await countIn(this.#counts, 'dataset', { kind: 'collection', id: one.id }),
        }),
      )
    }
    return views
  }
}
wire(CollectionViews, Users, Policy, CollectionLists, ContentCounts)
