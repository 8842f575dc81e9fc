import { Clock, type CollectionRecord, DocumentStore, Log, Trash, wire } from 'pounce/sdk'
import { collections } from './collection.ts'
import { CollectionService } from './collection-service.ts'
import { Config, type Settings } from './config.ts'

/** Where collections wait before they are deleted for good. */
export class CollectionTrash extends Trash<CollectionRecord> {
  constructor({ clearTrashAfterDays: days }: Settings, documents: DocumentStore, life: CollectionService, clock: Clock, log: Log) {
    super({ documents, clock, log, from: collections, days, remove: (id, actor) => life.remove(id, actor, { fromTrash: true }) })
  }
}
wire(CollectionTrash, Config, DocumentStore, CollectionService, Clock, Log)
