import {
  type CollectionRecord,
  Conflict,
  DocumentStore,
  event,
  Forbidden,
  Invalid,
  type NewEvent,
  NotFound,
  Spaces,
  wire,
} from 'pounce/sdk'
import { Mutex, updateWithRetry } from 'pounce/sdk/kit'
import { type Collected, collections } from './collection.ts'

const maxAbove = 10_000
const maxPlaces = 1000

const withOne = (ids: readonly string[], id: string): readonly string[] => (ids.includes(id) ? ids : [...ids, id])
const without = (ids: readonly string[], id: string): readonly string[] => ids.filter(other => other !== id)

/** Who adds collections to spaces. */
interface PlacementActor {
  readonly actor: string | undefined
  /** Superadmins also bring collections of others. */
  readonly withOthers: boolean
}

/** Only its owner, or a superadmin, brings a collection into further spaces: also with its parent. */
export const mayBring = ({ author }: Collected, { actor, withOthers }: PlacementActor): boolean => withOthers || author === actor

/** The membership of collections in spaces and in other collections. The nesting is many-to-many and acyclic. */
export class CollectionTree {
  #documents: DocumentStore
  #spaces: Spaces
  readonly #mutex = new Mutex()

  constructor(documents: DocumentStore, spaces: Spaces) {
    this.#documents = documents
    this.#spaces = spaces
  }

  /** Adds a collection to a space, as a root collection if `asRoot`. Descendants that `by` may bring follow by `collection.attached`. */
  async enterSpace(
    id: string,
    space: string,
    { asRoot, by }: { readonly asRoot: boolean; readonly by: PlacementActor },
  ): Promise<Collected> {
    return this.#change(id, now => {
      const rootSpaces = asRoot ? withOne(now.rootSpaces, space) : now.rootSpaces
      if (now.spaces.includes(space)) return { rootSpaces, events: [this.#updated(id, 'rootSpaces', by.actor)] }
      return { spaces: withOne(now.spaces, space), rootSpaces, events: [this.#inSpace(id, space, by)] }
    })
  }

  /** Removes a collection from a space. Descendants that are in the space only through it follow. */
  async leaveSpace(
    id: string,
    space: string,
    { withDatasets = false, actor }: { withDatasets?: boolean; actor?: string | undefined } = {},
  ): Promise<Collected> {
    const subject = { kind: 'collection', id } as const
    const data = { other: { kind: 'space', id: space }, ...(withDatasets ? { withDatasets } : {}) } as const
    return this.#change(id, now => ({
      spaces: without(now.spaces, space),
      rootSpaces: without(now.rootSpaces, space),
      events: now.spaces.includes(space) ? [event('collection.detached', subject, data, actor)] : [],
    }))
  }

  /** Sets whether a collection is a root collection of a space that it is in. */
  async setRoot(id: string, space: string, isRoot: boolean, actor: string | undefined): Promise<Collected> {
    return this.#change(id, now => {
      if (!now.spaces.includes(space)) throw new Invalid('The collection is not in this space')
      const rootSpaces = isRoot ? withOne(now.rootSpaces, space) : without(now.rootSpaces, space)
      return { rootSpaces, events: [this.#updated(id, 'rootSpaces', actor)] }
    })
  }

  /**
   * Adds a collection to a parent, whose spaces it joins. Throws `Conflict` if this would create a cycle, and `Forbidden` if it would bring the
   * collection into spaces that `by` may not bring it into. Serialized within this kernel, so that one of two conflicting requests wins;
   * against other kernels it checks again after the commit, and so does the event's handler.
   */
  addChild(parent: string, child: string, by: PlacementActor): Promise<void> {
    return this.#mutex.use(() => this.#addChild(parent, child, by))
  }

  async #addChild(parent: string, child: string, by: PlacementActor): Promise<void> {
    const subject = { kind: 'collection', id: child } as const
    await this.#change(child, async now => {
      const above = await this.#documents.get(collections, parent)
      if (!above) throw new NotFound('collection')
      const joined = above.spaces.filter(space => !now.spaces.includes(space))
      if (joined.length > 0 && !mayBring(now, by)) throw new Forbidden('Only the owner of a collection may add it to further spaces')
      if (parent === child) throw new Invalid('A collection cannot contain itself')
      if (await this.isBelow(parent, child)) throw new Conflict('Cycle: the collection contains the target collection')
      if (above.state === 'trashed' || now.state === 'trashed') throw new Conflict('Restore the collection from the trash first')
      if (now.parents.includes(parent)) return { events: [] }
      return {
        parents: withOne(now.parents, parent),
        spaces: [...now.spaces, ...joined],
        events: [
          event('collection.attached', subject, { other: { kind: 'collection', id: parent } }, by.actor),
          ...joined.map(space => this.#inSpace(child, space, by)),
        ],
      }
    })
    if (await this.breakCircle(parent, child)) throw new Conflict('A concurrent change would create a cycle; try again')
  }

  /** Removes an edge that turned out to close a cycle; returns whether it did. */
  async breakCircle(parent: string, child: string): Promise<boolean> {
    if (!(await this.isBelow(parent, child))) return false
    await this.removeChild(parent, child, undefined)
    return true
  }

  /** Removes a collection from a parent. It stays in its spaces, as a root collection where it has no other parent. */
  async removeChild(parent: string, child: string, actor: string | undefined): Promise<void> {
    const detached = event('collection.detached', { kind: 'collection', id: child }, { other: { kind: 'collection', id: parent } }, actor)
    await this.#change(child, async now => {
      if (!now.parents.includes(parent)) return { events: [] }
      const parents = without(now.parents, parent)
      const left = await this.#documents.getMany(collections, parents)
      const alone = now.spaces.filter(space => ![...left.values()].some(other => other.spaces.includes(space)))
      return { parents, rootSpaces: [...new Set([...now.rootSpaces, ...alone])], events: [detached] }
    })
  }

  /** Whether a collection is `above` itself or one of its descendants. */
  async isBelow(id: string, above: string): Promise<boolean> {
    return id === above || (await this.ancestorsOf(id)).has(above)
  }

  /** All ancestors of a collection. */
  async ancestorsOf(id: string): Promise<ReadonlySet<string>> {
    const seen = new Set<string>()
    let level = [id]
    while (level.length > 0) {
      const found = await this.#documents.getMany(collections, level.slice(0, 1000))
      const next = new Set(level.slice(1000))
      for (const { parents } of found.values()) for (const parent of parents) if (!seen.has(parent)) next.add(parent)
      for (const parent of next) seen.add(parent)
      if (seen.size > maxAbove) throw new Conflict(`The collection has more than ${maxAbove} ancestors`)
      level = [...next]
    }
    return seen
  }

  /**
   * Those of some collections that are descendants of another one, found through their ancestors: the cost depends on their number, not on
   * the size of the tree.
   */
  async amongBelow(some: readonly Collected[], above: string): Promise<ReadonlySet<string>> {
    const parentsOf = new Map(some.map(one => [one.id, one.parents]))
    for (let level = unknownParents(parentsOf); level.length > 0; level = unknownParents(parentsOf)) {
      if (parentsOf.size > maxAbove) throw new Conflict(`The collections have more than ${maxAbove} ancestors`)
      const found = await this.#documents.getMany(collections, level.slice(0, 1000))
      for (const id of level.slice(0, 1000)) parentsOf.set(id, found.get(id)?.parents ?? [])
    }
    const below = new Set<string>()
    for (const { id } of some) if (reaches(parentsOf, id, above)) below.add(id)
    return below
  }

  /** Recomputes the fields that are derived from parents and spaces; `field` is the one that is expected to change. */
  async settle(id: string, actor?: string, field: 'isPublic' | 'isTopLevel' = 'isPublic'): Promise<Collected> {
    return this.#change(id, now => ({
      rootSpaces: now.rootSpaces.filter(space => now.spaces.includes(space)),
      events: [this.#updated(id, field, actor)],
    }))
  }

  /** Updates a record and all fields derived from its spaces and parents. No commit and no event if nothing changed. */
  async #change(id: string, next: (now: Collected) => Promise<Placement> | Placement): Promise<Collected> {
    const changed = await updateWithRetry(this.#documents, collections, { kind: 'collection', id }, async now => {
      const { events, ...placed } = await next(now)
      const { parents, spaces, rootSpaces } = { parents: now.parents, spaces: now.spaces, rootSpaces: now.rootSpaces, ...placed }
      if (parents.length > maxPlaces || spaces.length > maxPlaces)
        throw new Invalid(`A collection has at most ${maxPlaces} parents and spaces`)
      const isTopLevel = rootSpaces.length > 0 || !(await this.#isAnyLive(parents))
      const set = { parents, spaces, rootSpaces, isTopLevel, isPublic: await this.isPublicIn(spaces) }
      return isSame(now, set) ? undefined : { set, events }
    })
    return this.#lookAgain(changed)
  }

  /** A space may have been published, unpublished or deleted between the read and the commit; its event then preceded this change. */
  async #lookAgain(changed: Collected): Promise<Collected> {
    const found = await this.#spaces.getMany(changed.spaces)
    const missing = changed.spaces.find(space => !found.has(space))
    if (missing !== undefined) return this.leaveSpace(changed.id, missing)
    const isPublic = [...found.values()].some(space => space.isPublic)
    return isPublic === changed.isPublic ? changed : this.settle(changed.id)
  }

  /** What is in the trash lists nothing below it. */
  async #isAnyLive(ids: readonly string[]): Promise<boolean> {
    if (ids.length === 0) return false
    const found = await this.#documents.getMany(collections, ids)
    return [...found.values()].some(one => one.state === 'live')
  }

  /** Whether one of the spaces is public. */
  async isPublicIn(spaces: readonly string[]): Promise<boolean> {
    if (spaces.length === 0) return false
    const found = await this.#spaces.getMany(spaces)
    return [...found.values()].some(space => space.isPublic)
  }

  #inSpace(id: string, space: string, { actor, withOthers }: PlacementActor): NewEvent {
    const data = { other: { kind: 'space', id: space }, ...(withOthers ? { withOthers } : {}) } as const
    return event('collection.attached', { kind: 'collection', id }, data, actor)
  }

  #updated(id: string, field: string, actor: string | undefined): NewEvent {
    return event('collection.updated', { kind: 'collection', id }, { fields: [field] }, actor)
  }
}
wire(CollectionTree, DocumentStore, Spaces)
const unknownParents = (parentsOf: ReadonlyMap<string, readonly string[]>): readonly string[] => [
  ...new Set([...parentsOf.values()].flat().filter(id => !parentsOf.has(id))),
]

const reaches = (parentsOf: ReadonlyMap<string, readonly string[]>, from: string, to: string): boolean => {
  const seen = new Set<string>()
  const open = [from]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const parent of parentsOf.get(next) ?? []) {
      if (parent === to) return true
      if (!seen.has(parent)) open.push(parent)
      seen.add(parent)
    }
  }
  return false
}

type Placement = Partial<Pick<CollectionRecord, 'parents' | 'spaces' | 'rootSpaces'>> & { readonly events: readonly NewEvent[] }

const isSame = (now: CollectionRecord, set: Partial<CollectionRecord>): boolean =>
  Object.entries(set).every(([field, value]) => JSON.stringify(value) === JSON.stringify(now[field as keyof CollectionRecord]))
