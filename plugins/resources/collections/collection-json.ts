import { fullNameOf, s, type UserRecord } from 'pounce/sdk'
import type { Collected } from './collection.ts'

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
    resource_type: s.String(),
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

/** A collection by itself: as in v1 every value is text, and lists look like Scala's. */
export const SingleCollection = s.model(
  'CollectionDetails',
  s.Object({
    id: s.String(),
    name: s.String(),
    description: s.String(),
    created: s.v1Date(),
    author: s.String({ description: '`MiniUser(<id>,<name>,<avatar>,Some(<e-mail>))`' }),
    root_flag: s.String({ description: '`true` for a root collection of a space' }),
    child_collection_ids: s.String({ description: '`List(id1, id2)`' }),
    parent_collection_ids: s.String(),
    childCollectionsCount: s.String(),
    datasetCount: s.String(),
    spaces: s.String(),
  }),
)

/** What is known around a collection. */
export interface Surroundings {
  readonly author: UserRecord | undefined
  /** The address of the author's picture. */
  readonly avatar: string
  readonly children: readonly string[]
  readonly parents: readonly string[]
  readonly childCount: number
  readonly datasetCount: number
}

const listText = (ids: readonly string[]): string => `List(${ids.join(', ')})`

const authorText = (id: string, user: UserRecord | undefined, avatar: string): string => {
  if (!user) return `MiniUser(${id},,,None)`
  return `MiniUser(${id},${fullNameOf(user)},${avatar},Some(${user.email}))`
}

export const toSingleCollection = (one: Collected, around: Surroundings): s.Static<typeof SingleCollection> => ({
  id: one.id,
  name: one.name,
  description: one.description,
  created: s.toV1Date(one.created),
  author: authorText(one.author, around.author, around.avatar),
  root_flag: String(one.rootSpaces.length > 0),
  child_collection_ids: listText(around.children),
  parent_collection_ids: listText(around.parents),
  childCollectionsCount: String(around.childCount),
  datasetCount: String(around.datasetCount),
  spaces: listText(one.spaces),
})
