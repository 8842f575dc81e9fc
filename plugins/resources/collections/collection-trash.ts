import { Clock, type CollectionRecord, DocumentStore, Log, port, Trash, wire } from 'pounce/sdk'
import { collections } from './collection.ts'
import { type CollectionLife, CollectionLifes } from './collection-life.ts'
import { Config, type Settings } from './config.ts'

/** Where collections wait before they are deleted for good. */
export class CollectionTrash extends Trash<CollectionRecord> {
  constructor({ clearTrashAfterDays: days }: Settings, documents: DocumentStore, life: CollectionLife, clock: Clock, log: Log) {
    super({ documents, clock, log, from: collections, days, remove: (id, actor) => life.remove(id, actor, { fromTrash: true }) })
  }
}
wire(CollectionTrash, Config, DocumentStore, CollectionLifes, Clock, Log)

export const CollectionTrashes = port<CollectionTrash>('collections.trash')
