import type { StoredEvent } from 'pounce/sdk'
import { wire } from 'pounce/sdk'
import { MetadataDesk, type StoredMetadata } from './stored-metadata.ts'

/** Metadata goes with what it hangs on. */
export class FollowTarget {
  #documents: StoredMetadata

  constructor(documents: StoredMetadata) {
    this.#documents = documents
  }

  async handle({ subject, actor }: StoredEvent<'file.removed' | 'dataset.removed'>): Promise<void> {
    await this.#documents.removeAll(subject, undefined, actor)
  }
}
wire(FollowTarget, MetadataDesk)
