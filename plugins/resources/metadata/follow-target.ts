import type { StoredEvent } from 'pounce/sdk'
import { wire } from 'pounce/sdk'
import { MetadataDesk, type StoredMetadata } from './stored-metadata.ts'

/** Metadata goes with what it hangs on. */
export class FollowTarget {
  #documents: StoredMetadata

  constructor(documents: StoredMetadata) {
    this.#documents = documents
  }

  async handle({
    subject,
    actor,
    data,
  }: StoredEvent<'file.removed' | 'dataset.removed' | 'collection.removed' | 'space.removed'>): Promise<void> {
    const isSilent = 'wasImporting' in data && data.wasImporting === true
    await this.#documents.removeAll(subject, { actor, isSilent })
  }
}
wire(FollowTarget, MetadataDesk)
