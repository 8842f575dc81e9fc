import { type CollectionRecord, type Containment, containedIn, DocumentStore, type StoredEvent, takeOutAll, wire } from 'pounce/sdk'
import { type Collected, collections } from './collection.ts'
import { CollectionTree } from './collection-tree.ts'

export const inSpace: Containment<CollectionRecord> = { records: collections, using: 'bySpace', field: 'spaces' }
const inParent: Containment<CollectionRecord> = { records: collections, using: 'byParent', field: 'parents' }

/** A space that is gone holds no collections. */
export class DetachCollectionsOnSpaceRemoved {
  #documents: DocumentStore
  #tree: CollectionTree

  constructor(documents: DocumentStore, tree: CollectionTree) {
    this.#documents = documents
    this.#tree = tree
  }

  async handle({ subject, actor }: StoredEvent<'space.removed'>): Promise<void> {
    await takeOutAll(this.#documents, inSpace, subject.id, one => this.#tree.leaveSpace(one.id, subject.id, { actor }))
  }
}
wire(DetachCollectionsOnSpaceRemoved, DocumentStore, CollectionTree)

/** A space that becomes public, or ceases to be, takes its collections along. */
export class UpdateCollectionAccessOnSpaceUpdated {
  #documents: DocumentStore
  #tree: CollectionTree

  constructor(documents: DocumentStore, tree: CollectionTree) {
    this.#documents = documents
    this.#tree = tree
  }

  async handle({ subject, actor, data }: StoredEvent<'space.updated'>): Promise<void> {
    if (!data.fields.includes('access')) return
    for await (const one of containedIn(this.#documents, inSpace, subject.id)) await this.#tree.settle(one.id, actor)
  }
}
wire(UpdateCollectionAccessOnSpaceUpdated, DocumentStore, CollectionTree)

/** A collection that is gone holds no collections. */
export class DetachCollectionsOnParentRemoved {
  #documents: DocumentStore
  #tree: CollectionTree

  constructor(documents: DocumentStore, tree: CollectionTree) {
    this.#documents = documents
    this.#tree = tree
  }

  async handle({ subject, actor }: StoredEvent<'collection.removed'>): Promise<void> {
    await takeOutAll(this.#documents, inParent, subject.id, one => this.#tree.removeChild(subject.id, one.id, actor))
  }
}
wire(DetachCollectionsOnParentRemoved, DocumentStore, CollectionTree)

/** What is below a collection enters and leaves spaces with it; each child states its own event, so the whole tree follows. */
export class UpdateSpacesOnParentChanged {
  #documents: DocumentStore
  #tree: CollectionTree

  constructor(documents: DocumentStore, tree: CollectionTree) {
    this.#documents = documents
    this.#tree = tree
  }

  async handle({ subject, actor, data: { other } }: StoredEvent<'collection.attached' | 'collection.detached'>): Promise<void> {
    const parent = await this.#documents.get(collections, subject.id)
    if (!parent) return
    if (other.kind === 'collection' && parent.parents.includes(other.id)) await this.#tree.breakCircle(other.id, subject.id)
    if (other.kind !== 'space') return
    const isIn = parent.spaces.includes(other.id)
    for await (const child of containedIn(this.#documents, inParent, subject.id)) {
      if (isIn) await this.#tree.enterSpace(child.id, other.id, { asRoot: false, actor })
      else if (await this.#isOnlyThere(child, other.id)) await this.#tree.leaveSpace(child.id, other.id, { actor })
    }
  }

  /** In a space only because of a parent that has left it. */
  async #isOnlyThere(child: Collected, space: string): Promise<boolean> {
    if (!child.spaces.includes(space) || child.rootSpaces.includes(space)) return false
    const parents = await this.#documents.getMany(collections, child.parents)
    return ![...parents.values()].some(parent => parent.spaces.includes(space))
  }
}
wire(UpdateSpacesOnParentChanged, DocumentStore, CollectionTree)
