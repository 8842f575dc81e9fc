import {
  and,
  Collections,
  Comments,
  Datasets,
  DocumentStore,
  Files,
  fullNameOf,
  isIn,
  type Kind,
  ne,
  type Ref,
  Spaces,
  Users,
  wire,
} from 'pounce/sdk'
import { activity } from './activity-lines.ts'

/** What the feed says of a thing. */
export interface FeedThing {
  readonly name: string
  /** Who made it, and the spaces it is in, for those who hear of comments on it. */
  readonly audience: readonly string[]
}
export type FeedThings = ReadonlyMap<string, FeedThing>

type Reader = (ids: readonly string[]) => Promise<readonly (readonly [id: string, thing: FeedThing])[]>

/** Asks the plugins what things are called, many in one read. */
export class FeedNames {
  #documents: DocumentStore
  #readers: Partial<Record<Kind, Reader>>

  constructor(
    documents: DocumentStore,
    users: Users,
    comments: Comments,
    spaces: Spaces,
    collections: Collections,
    datasets: Datasets,
    files: Files,
  ) {
    this.#documents = documents
    this.#readers = {
      user: async ids => [...(await users.getMany(ids))].map(([id, user]) => [id, { name: fullNameOf(user), audience: [] }]),
      space: async ids => [...(await spaces.getMany(ids))].map(([id, { name }]) => [id, { name, audience: [] }]),
      collection: async ids => [...(await collections.getMany(ids))].map(([id, { name }]) => [id, { name, audience: [] }]),
      dataset: async ids =>
        [...(await datasets.getMany(ids))].map(([id, { name, author, spaces }]) => [id, { name, audience: [author, ...spaces] }]),
      file: async ids => {
        const found = [...(await files.getMany(ids))]
        const parents = await datasets.getMany(
          [...new Set(found.flatMap(([, file]) => file.places.map(place => place.dataset)))].slice(0, 1000),
        )
        const spacesOf = (dataset: string) => parents.get(dataset)?.spaces ?? []
        return found.map(([id, { name, author, places }]) => [
          id,
          { name, audience: [...new Set([author, ...places.flatMap(place => spacesOf(place.dataset))])] },
        ])
      },
      comment: async ids => {
        const found = await Promise.all(ids.map(id => comments.get(id)))
        return found.flatMap(comment => (comment ? [[comment.id, { name: comment.text, audience: [] }] as const] : []))
      },
    }
  }

  /** Those that exist, by id. */
  async of(refs: readonly Ref[]): Promise<FeedThings> {
    const byKind = Map.groupBy(refs, ({ kind }) => kind)
    const found = await Promise.all([...byKind].map(([kind, some]) => this.#read(kind, [...new Set(some.map(({ id }) => id))])))
    return new Map(found.flat())
  }

  async #read(kind: Kind, ids: readonly string[]): ReturnType<Reader> {
    const found: Awaited<ReturnType<Reader>>[] = []
    for (let at = 0; at < ids.length; at += 1000) found.push((await this.#readers[kind]?.(ids.slice(at, at + 1000))) ?? [])
    return found.flat()
  }

  /** What the feed itself called things that are gone. */
  async formerNames(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (ids.length === 0) return new Map()
    const where = and(isIn('object.id', ids), ne('objectName', ''))
    const { items } = await this.#documents.find(activity, { using: 'byObject', where, limit: 1000 })
    return new Map(items.flatMap(({ object, objectName }) => (object ? [[object.id, objectName] as const] : [])))
  }
}
wire(FeedNames, DocumentStore, Users, Comments, Spaces, Collections, Datasets, Files)
