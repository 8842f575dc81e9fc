import {
  Clock,
  type CollectionRecord,
  type ContentCount,
  ContentCounts,
  type Contributions,
  DocumentStore,
  Log,
  Mailer,
  Spaces,
  type StoredEvent,
  Users,
  wire,
} from 'pounce/sdk'
import {
  type Containment,
  fullNameOf,
  IndividualMails,
  nonEmptyContainers,
  recordsInContainer,
  removeAllFromContainer,
} from 'pounce/sdk/kit'
import { type Collected, collections } from './collection.ts'
import { CollectionService } from './collection-service.ts'
import { CollectionTree, mayBring } from './collection-tree.ts'

const inSpace: Containment<CollectionRecord> = { records: collections, using: 'bySpace', field: 'spaces' }

const inParent: Containment<CollectionRecord> = { records: collections, using: 'byParent', field: 'parents' }

/** Removes collections from a deleted space. */
export class DetachCollectionsOnSpaceRemoved {
  #documents: DocumentStore
  #tree: CollectionTree

  constructor(documents: DocumentStore, tree: CollectionTree) {
    this.#documents = documents
    this.#tree = tree
  }

  async handle({ subject, actor }: StoredEvent<'space.removed'>): Promise<void> {
    await removeAllFromContainer(this.#documents, inSpace, subject.id, one => this.#tree.leaveSpace(one.id, subject.id, { actor }))
  }
}
wire(DetachCollectionsOnSpaceRemoved, DocumentStore, CollectionTree)

/** Updates the public flag of collections when the access level of their space changes. */
export class UpdateCollectionAccessOnSpaceUpdated {
  #documents: DocumentStore
  #tree: CollectionTree

  constructor(documents: DocumentStore, tree: CollectionTree) {
    this.#documents = documents
    this.#tree = tree
  }

  async handle({ subject, actor, data }: StoredEvent<'space.updated'>): Promise<void> {
    if (!data.fields.includes('access')) return
    for await (const one of recordsInContainer(this.#documents, inSpace, subject.id)) await this.#tree.settle(one.id, actor)
  }
}
wire(UpdateCollectionAccessOnSpaceUpdated, DocumentStore, CollectionTree)

/** Removes collections from a deleted parent. */
export class DetachCollectionsOnParentRemoved {
  #documents: DocumentStore
  #tree: CollectionTree

  constructor(documents: DocumentStore, tree: CollectionTree) {
    this.#documents = documents
    this.#tree = tree
  }

  async handle({ subject, actor }: StoredEvent<'collection.removed'>): Promise<void> {
    await removeAllFromContainer(this.#documents, inParent, subject.id, one => this.#tree.removeChild(subject.id, one.id, actor))
  }
}
wire(DetachCollectionsOnParentRemoved, DocumentStore, CollectionTree)

/** Children of a trashed collection without another live parent are at the top level until it is restored. */
export class UpdateTopLevelOnParentTrashed {
  #documents: DocumentStore
  #tree: CollectionTree

  constructor(documents: DocumentStore, tree: CollectionTree) {
    this.#documents = documents
    this.#tree = tree
  }

  async handle({ subject, actor }: StoredEvent<'collection.trashed' | 'collection.restored'>): Promise<void> {
    for await (const one of recordsInContainer(this.#documents, inParent, subject.id)) await this.#tree.settle(one.id, actor, 'isTopLevel')
  }
}
wire(UpdateTopLevelOnParentTrashed, DocumentStore, CollectionTree)

/**
 * Descendants enter and leave spaces with their parent. Each child emits its own event, so the whole tree follows, except, into a space, those
 * that the actor may not bring: otherwise who nests a collection of another owner could take it into their own space.
 */
export class UpdateSpacesOnParentChanged {
  #documents: DocumentStore
  #tree: CollectionTree

  constructor(documents: DocumentStore, tree: CollectionTree) {
    this.#documents = documents
    this.#tree = tree
  }

  async handle(change: StoredEvent<'collection.attached'> | StoredEvent<'collection.detached'>): Promise<void> {
    const { subject, actor } = change
    const { other } = change.data
    // What is in it now entered its spaces when it was added, and may have left them since.
    if (change.type === 'collection.attached' && change.data.isNew) return
    const parent = await this.#documents.get(collections, subject.id)
    if (!parent) return
    if (other.kind === 'collection' && parent.parents.includes(other.id)) await this.#tree.breakCircle(other.id, subject.id)
    if (other.kind !== 'space') return
    const isIn = parent.spaces.includes(other.id)
    if (isIn !== (change.type === 'collection.attached')) return
    const by = { actor, withOthers: change.type === 'collection.attached' && change.data.withOthers === true }
    for await (const child of recordsInContainer(this.#documents, inParent, subject.id)) {
      if (!isIn) {
        if (await this.#isOnlyThere(child, other.id)) await this.#tree.leaveSpace(child.id, other.id, { actor })
      } else if (mayBring(child, by)) await this.#tree.enterSpace(child.id, other.id, { asRoot: false, by })
    }
  }

  /** True if the child is in the space only because of the parent that has left it. */
  async #isOnlyThere(child: Collected, space: string): Promise<boolean> {
    if (!child.spaces.includes(space) || child.rootSpaces.includes(space)) return false
    const parents = await this.#documents.getMany(collections, child.parents)
    return ![...parents.values()].some(parent => parent.spaces.includes(space))
  }
}
wire(UpdateSpacesOnParentChanged, DocumentStore, CollectionTree)

/** Removes empty collections older than the time to live of their space from it, and moves them to the trash if it is their only one. */
export class ExpireCollections {
  #documents: DocumentStore
  #spaces: Spaces
  #service: CollectionService
  #tree: CollectionTree
  #counts: Contributions<ContentCount>
  #clock: Clock

  constructor(
    documents: DocumentStore,
    spaces: Spaces,
    service: CollectionService,
    tree: CollectionTree,
    counts: Contributions<ContentCount>,
    clock: Clock,
  ) {
    this.#documents = documents
    this.#spaces = spaces
    this.#service = service
    this.#tree = tree
    this.#counts = counts
    this.#clock = clock
  }

  async handle({ subject: { id: space } }: StoredEvent<'space.expiry-due'>): Promise<void> {
    const record = await this.#spaces.get(space)
    if (!record?.isTimeToLiveEnabled) return
    const before = new Date(this.#clock.now().getTime() - record.timeToLiveMs).toISOString()
    for await (const { id, created, state, spaces } of recordsInContainer(this.#documents, inSpace, space)) {
      if (state !== 'live' || created >= before) continue
      if ((await nonEmptyContainers(this.#counts, 'collection', [id])).size > 0) continue
      if (spaces.length > 1) await this.#tree.leaveSpace(id, space)
      else await this.#service.discard(id, undefined)
    }
  }
}
wire(ExpireCollections, DocumentStore, Spaces, CollectionService, CollectionTree, ContentCounts, Clock)

const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, 900)

/** Notifies the server admins by email that a collection was deleted, as Clowder 1.x does. */
export class NotifyAdminsOnCollectionRemoved {
  #users: Users
  #mails: IndividualMails

  constructor(users: Users, mailer: Mailer, log: Log) {
    this.#users = users
    this.#mails = new IndividualMails(mailer, log)
  }

  async handle({ id, subject, actor, data: { name } }: StoredEvent<'collection.removed'>): Promise<void> {
    const user = actor === undefined ? undefined : await this.#users.get(actor)
    const subjectLine = oneLine(`${user ? fullNameOf(user) : 'The server'} deleted the collection ${name}`)
    const mail = { subject: subjectLine, text: `${subjectLine} (${subject.id}).\n` }
    const admins = await this.#users.admins()
    await this.#mails.send(
      id,
      admins.map(user => ({ user, ...mail })),
    )
  }
}
wire(NotifyAdminsOnCollectionRemoved, Users, Mailer, Log)
