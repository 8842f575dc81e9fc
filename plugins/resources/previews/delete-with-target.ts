import {
  type AnyEvent,
  type BatchHandler,
  Collections,
  Datasets,
  Files,
  type Kind,
  type Ref,
  Sections,
  type StoredEvent,
  wire,
} from 'pounce/sdk'
import type { Records } from 'pounce/sdk/kit'
import { StoredPreviews } from './stored-previews.ts'
import { StoredThumbnails } from './stored-thumbnails.ts'
import { StoredTiles } from './stored-tiles.ts'

/** Deletes previews and thumbnails with their target. */
export class DeletePreviewsOnTargetRemoved implements BatchHandler {
  #previews: StoredPreviews

  constructor(previews: StoredPreviews) {
    this.#previews = previews
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    await this.#previews.removeAllOf(new Map(events.map(({ subject, actor }) => [subject.id, actor])))
  }
}
wire(DeletePreviewsOnTargetRemoved, StoredPreviews)

/** Deletes tiles with their preview. */
export class DeleteTilesOnPreviewRemoved {
  #tiles: StoredTiles

  constructor(tiles: StoredTiles) {
    this.#tiles = tiles
  }

  async handle({ subject, actor }: StoredEvent<'preview.removed'>): Promise<void> {
    if (subject.kind === 'preview') await this.#tiles.removeAllOf(subject.id, actor)
  }
}
wire(DeleteTilesOnPreviewRemoved, StoredTiles)

/** Deletes a preview that was attached while its target was being deleted, and so was missed by that cascade. */
export class DeleteOrphanedPreview {
  #previews: StoredPreviews
  #thumbnails: StoredThumbnails
  #shown: Partial<Record<Kind, Records<object>>>

  constructor(
    previews: StoredPreviews,
    thumbnails: StoredThumbnails,
    files: Files,
    sections: Sections,
    datasets: Datasets,
    collections: Collections,
  ) {
    this.#previews = previews
    this.#thumbnails = thumbnails
    this.#shown = { file: files, section: sections, dataset: datasets, collection: collections }
  }

  async handle({ subject, actor }: StoredEvent<'preview.attached' | 'thumbnail.attached'>): Promise<void> {
    const preview = subject.kind === 'preview' ? await this.#previews.preview(subject.id) : undefined
    if (preview && !(await this.#isThere(preview.target))) await this.#previews.removePreview(preview, actor)
    const thumbnail = subject.kind === 'thumbnail' ? await this.#thumbnails.thumbnail(subject.id) : undefined
    if (thumbnail && !(await this.#isThere(thumbnail.target))) await this.#thumbnails.remove(thumbnail, actor)
  }

  /** Whether the target exists: one that is being imported does, and one whose parent was deleted will be deleted by its own event. */
  async #isThere(target: Ref | null): Promise<boolean> {
    return target === null || (await this.#shown[target.kind]?.get(target.id)) !== undefined
  }
}
wire(DeleteOrphanedPreview, StoredPreviews, StoredThumbnails, Files, Sections, Datasets, Collections)
