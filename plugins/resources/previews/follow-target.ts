import { type AnyEvent, type BatchHandler, type Caller, Datasets, Files, Policy, type StoredEvent, wire } from 'pounce/sdk'
import { PreviewDesk, type StoredPreviews } from './stored-previews.ts'
import { type StoredThumbnails, ThumbnailDesk } from './stored-thumbnails.ts'
import { type StoredTiles, TileDesk } from './stored-tiles.ts'

/** Previews and thumbnails go with what they show. */
export class FollowTarget implements BatchHandler {
  #previews: StoredPreviews

  constructor(previews: StoredPreviews) {
    this.#previews = previews
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    await this.#previews.removeAllOf(new Map(events.map(({ subject, actor }) => [subject.id, actor])))
  }
}
wire(FollowTarget, PreviewDesk)

/** Tiles go with their preview. */
export class FollowPreview {
  #tiles: StoredTiles

  constructor(tiles: StoredTiles) {
    this.#tiles = tiles
  }

  async handle({ subject, actor }: StoredEvent<'preview.removed'>): Promise<void> {
    if (subject.kind === 'preview') await this.#tiles.removeAllOf(subject.id, actor)
  }
}
wire(FollowPreview, TileDesk)

/** Sees everything there is, so that what it does not see is not there. */
const everywhere: Caller = { via: 'service', scope: 'full', superAdmin: true }

/** What was attached while the thing it shows went has nobody else to take it away. */
export class DropOrphan {
  #previews: StoredPreviews
  #thumbnails: StoredThumbnails
  #policy: Policy
  #files: Files
  #datasets: Datasets

  constructor(previews: StoredPreviews, thumbnails: StoredThumbnails, policy: Policy, files: Files, datasets: Datasets) {
    this.#previews = previews
    this.#thumbnails = thumbnails
    this.#policy = policy
    this.#files = files
    this.#datasets = datasets
  }

  async handle({ subject, actor, data: { target } }: StoredEvent<'preview.attached' | 'thumbnail.attached'>): Promise<void> {
    if ((await this.#policy.canOn(everywhere, 'ViewFile', subject)) !== 'unseen') return
    if (target.kind === 'file' && (await this.#isImporting(target.id))) return
    const preview = subject.kind === 'preview' ? await this.#previews.preview(subject.id) : undefined
    if (preview) await this.#previews.removePreview(preview, actor)
    const thumbnail = subject.kind === 'thumbnail' ? await this.#thumbnails.thumbnail(subject.id) : undefined
    if (thumbnail) await this.#thumbnails.remove(thumbnail, actor)
  }

  /** What comes with a dataset that is being imported is seen by nobody, and there all the same. */
  async #isImporting(file: string): Promise<boolean> {
    const places = (await this.#files.get(file))?.places ?? []
    const found = await this.#datasets.getMany(places.map(place => place.dataset))
    return [...found.values()].some(({ state }) => state === 'importing')
  }
}
wire(DropOrphan, PreviewDesk, ThumbnailDesk, Policy, Files, Datasets)
