import {
  type After,
  and,
  Clock,
  type CollectionRecord,
  type Collections,
  DocumentStore,
  eq,
  Log,
  type NewEvent,
  type Page,
  type Stored,
  type Update,
  type Where,
  wire,
} from 'pounce/sdk'
import { naturalKey, orNotFound, Trash } from 'pounce/sdk/kit'
import { Config, collections, type Settings } from './collection.ts'
import { CollectionService } from './collection-service.ts'
import { CollectionTree } from './collection-tree.ts'

const structure = /^(parents|spaces|rootSpaces)(\.|$)/

/** Collections in the document store. */
export class StoredCollections implements Collections {
  #documents: DocumentStore
  #tree: CollectionTree
  #clock: Clock

  constructor(documents: DocumentStore, tree: CollectionTree, clock: Clock) {
    this.#clock = clock
    this.#documents = documents
    this.#tree = tree
  }

  get(id: string): Promise<(CollectionRecord & Stored) | undefined> {
    return this.#documents.get(collections, id)
  }

  getMany(ids: readonly string[]): Promise<ReadonlyMap<string, CollectionRecord & Stored>> {
    return this.#documents.getMany(collections, ids)
  }

  childrenOf(collection: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<CollectionRecord & Stored>> {
    return this.#documents.find(collections, {
      using: 'byParent',
      where: and(eq('state', 'live'), eq('parents', collection)),
      sort: { by: 'created', order: 'descending' },
      ...page,
    })
  }

  async change(id: string, update: Update & { readonly where?: Where }, events: readonly NewEvent[]): Promise<CollectionRecord & Stored> {
    const named = typeof update.set?.['name'] === 'string' ? { nameKey: naturalKey(update.set['name']) } : {}
    const set = { modified: this.#clock.now().toISOString(), ...update.set, ...named }
    const changed = await orNotFound('collection', this.#documents.commit({ update: id, in: collections, ...update, set }, events))
    const paths = [update.set, update.addToSet, update.pull, update.push].flatMap(part => Object.keys(part ?? {}))
    return paths.some(path => structure.test(path)) ? this.#tree.settle(id) : changed
  }
}
wire(StoredCollections, DocumentStore, CollectionTree, Clock)

/** The trash of collections, which keeps them until they are deleted permanently. */
export class CollectionTrash extends Trash<CollectionRecord> {
  constructor({ clearTrashAfterDays: days }: Settings, documents: DocumentStore, service: CollectionService, clock: Clock, log: Log) {
    super({ documents, clock, log, from: collections, days, remove: (id, actor) => service.remove(id, actor, { fromTrash: true }) })
  }
}
wire(CollectionTrash, Config, DocumentStore, CollectionService, Clock, Log)
