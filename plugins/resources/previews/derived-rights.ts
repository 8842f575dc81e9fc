import { anonymousUserId, DocumentStore, type PreviewRecord, type Rights, type RightsOf, type ThumbnailRecord, wire } from 'pounce/sdk'
import { previews, thumbnails } from './collections.ts'

const rightsOf = ({ author, target, job }: PreviewRecord | ThumbnailRecord): Rights => ({
  // once it shows something, who made it counts no more: rights are those of what it shows, now
  author: target ? '' : (author ?? anonymousUserId),
  spaces: [],
  isPublic: false,
  state: 'live',
  ...(target ? { parents: [target] } : {}),
  ...(job === undefined ? {} : { job }),
})

/** A preview has the rights of what it shows; one that shows nothing yet is its maker's. */
export class PreviewRights implements RightsOf {
  readonly kind = 'preview'
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async rightsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Rights>> {
    return new Map([...(await this.#documents.getMany(previews, ids))].map(([id, record]) => [id, rightsOf(record)]))
  }
}
wire(PreviewRights, DocumentStore)

/** A thumbnail likewise. */
export class ThumbnailRights implements RightsOf {
  readonly kind = 'thumbnail'
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async rightsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Rights>> {
    return new Map([...(await this.#documents.getMany(thumbnails, ids))].map(([id, record]) => [id, rightsOf(record)]))
  }
}
wire(ThumbnailRights, DocumentStore)
