import {
  and,
  Collections,
  Comments,
  type Contributions,
  collection,
  Datasets,
  DocumentStore,
  eq,
  Files,
  isIn,
  type Kind,
  ne,
  or,
  type Permission,
  type Ref,
  type Resource,
  Resources,
  Spaces,
  type Time,
  Users,
  wire,
} from 'pounce/sdk'
import { fullNameOf, personalRecords } from 'pounce/sdk/kit'

/** An entry of the activity feed; its id is that of the event. */
export interface ActivityRecord {
  readonly user: string
  readonly type: string
  readonly object: Ref | null
  /** Empty while unknown: the entry is not shown. */
  readonly objectName: string
  readonly source: Ref | null
  readonly sourceName: string
  /** The names before the first change since the entry was written. */
  readonly firstObjectName?: string
  readonly firstSourceName?: string
  /** The user affected, if other than the actor. */
  readonly target: string | null
  /** The containers of a deleted resource. */
  readonly within: readonly Ref[]
  /** For a comment: the author of its target, and the spaces that the target is in. */
  readonly audience: readonly string[]
  readonly at: Time
}

/** The feed. */
export const activity = collection<ActivityRecord>()('activity', {
  byUser: { on: ['user', 'at'] },
  byObject: { on: ['object.id', 'at'] },
  bySource: { on: ['source.id', 'at'], sparse: 'source.id' },
  byTarget: { on: ['target', 'at'], sparse: 'target' },
  byAudience: { on: ['audience', 'at'], array: 'audience', sparse: 'audience' },
})

/** Feed entries. They refer to users by account id; in an entry about a profile, the name follows the account. */
export const PersonalActivity = personalRecords({
  name: 'activity',
  summary: 'Your activity feed: your actions, and actions of others that affect you; names of resources are omitted.',
  in: activity,
  find: ({ id }) => ({ using: ['byUser', 'byTarget'], where: or(eq('user', id), eq('target', id)) }),
  isOf: ({ user, target }, { id }) => user === id || target === id,
  show: ({ type, object, source, at, user }, { id }) => ({ type, object, source, at, byYou: user === id }),
})

/** The data that the feed shows about a resource. */
export interface NamedResource {
  readonly name: string
  /** The author and the spaces of the resource, which decide who receives comments on it. */
  readonly audience: readonly string[]
}

export type NamedResources = ReadonlyMap<string, NamedResource>

type Reader = (ids: readonly string[]) => Promise<readonly (readonly [id: string, thing: NamedResource])[]>

/** Reads the names of resources from their plugins in batches. */
export class FeedNames {
  #documents: DocumentStore
  #resources: Contributions<Resource>
  #readers: Partial<Record<Kind, Reader>>

  constructor(
    documents: DocumentStore,
    users: Users,
    comments: Comments,
    spaces: Spaces,
    collections: Collections,
    datasets: Datasets,
    files: Files,
    resources: Contributions<Resource>,
  ) {
    this.#documents = documents
    this.#resources = resources
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

  /** The existing resources, by id. */
  async of(refs: readonly Ref[]): Promise<NamedResources> {
    const byKind = Map.groupBy(refs, ({ kind }) => kind)
    const found = await Promise.all([...byKind].map(([kind, some]) => this.#read(kind, [...new Set(some.map(({ id }) => id))])))
    return new Map(found.flat())
  }

  async #read(kind: Kind, ids: readonly string[]): ReturnType<Reader> {
    const found: Awaited<ReturnType<Reader>>[] = []
    for (let at = 0; at < ids.length; at += 1000) found.push((await this.#readerOf(kind)?.(ids.slice(at, at + 1000))) ?? [])
    return found.flat()
  }

  /** The permission to view resources of a kind. */
  viewOf(kind: Kind): Permission | undefined {
    return this.#resources.all().find(one => one.kind === kind)?.view
  }

  /** For kinds of other plugins: read as their resource declarations specify. */
  #readerOf(kind: Kind): Reader | undefined {
    const known = this.#readers[kind]
    const resource = known ? undefined : this.#resources.all().find(one => one.kind === kind && one.describe)
    if (!resource) return known
    return async ids => [...((await resource.describe?.(ids)) ?? [])].map(([id, { name }]) => [id, { name, audience: [] }])
  }

  /** The last names of deleted resources, taken from the feed itself. */
  async formerNames(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (ids.length === 0) return new Map()
    const where = and(isIn('object.id', ids), ne('objectName', ''))
    const { items } = await this.#documents.find(activity, { using: 'byObject', where, limit: 1000 })
    return new Map(items.flatMap(({ object, objectName }) => (object ? [[object.id, objectName] as const] : [])))
  }
}
wire(FeedNames, DocumentStore, Users, Comments, Spaces, Collections, Datasets, Files, Resources)
