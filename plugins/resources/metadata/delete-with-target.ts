import { type AnyEvent, type BatchHandler, DocumentStore, isIn, wire } from 'pounce/sdk'
import { metadata } from './collection.ts'
import { StoredMetadata } from './stored-metadata.ts'

/** Metadata goes with what it hangs on. */
export class DeleteMetadataOnTargetRemoved implements BatchHandler {
  #documents: DocumentStore
  #metadata: StoredMetadata

  constructor(documents: DocumentStore, stored: StoredMetadata) {
    this.#documents = documents
    this.#metadata = stored
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    // Documents can be large, so that those of many things are not read at once; that there are none takes one look.
    const where = isIn(
      'target.id',
      events.map(({ subject }) => subject.id),
    )
    if ((await this.#documents.count(metadata, { using: 'byTarget', where, upTo: 1 })) === 0) return
    for (const { subject, actor, data } of events) {
      const isSilent = 'wasImporting' in data && data.wasImporting === true
      await this.#metadata.removeAll(subject, { actor, isSilent })
    }
  }
}
wire(DeleteMetadataOnTargetRemoved, DocumentStore, StoredMetadata)
