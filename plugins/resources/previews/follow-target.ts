import { type StoredEvent, wire } from 'pounce/sdk'
import { PreviewDesk, type StoredPreviews } from './stored-previews.ts'

/** Previews and thumbnails go with what they show. */
export class FollowTarget {
  #previews: StoredPreviews

  constructor(previews: StoredPreviews) {
    this.#previews = previews
  }

  async handle({ subject, actor }: StoredEvent<'file.removed' | 'dataset.removed' | 'collection.removed'>): Promise<void> {
    await this.#previews.removeAllOf(subject, actor)
  }
}
wire(FollowTarget, PreviewDesk)
