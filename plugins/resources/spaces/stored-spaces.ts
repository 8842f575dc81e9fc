import {
  Clock,
  collection,
  DocumentStore,
  eq,
  type NewEvent,
  type SpaceRecord,
  type Spaces,
  type Stored,
  type Update,
  type Where,
  wire,
} from 'pounce/sdk'
import { indexesForOrders, naturalKey, orNotFound } from 'pounce/sdk/kit'

/** A stored space. `spaces` contains its own id, so that one condition of the policy fits spaces, collections and datasets alike. */
export type StoredSpace = SpaceRecord & {
  readonly spaces: readonly string[]
  /** When the expiry of old resources was last announced. */
  readonly expiryAt?: string
}

export const spaces = collection<StoredSpace>()('spaces', {
  byCreated: { on: ['state', 'created'] },
  ...indexesForOrders({
    bySpace: { on: ['state', 'spaces', 'created'], array: 'spaces' },
    byAuthor: { on: ['state', 'author', 'created'] },
    byPublic: { on: ['state', 'isPublic', 'created'] },
  }),
  byNamePiece: { on: ['state', 'name~', 'created'], array: 'name~' },
  byTimeToLive: { on: ['state', 'isTimeToLiveEnabled'] },
})

/** Spaces in the document store. */
export class StoredSpaces implements Spaces {
  #documents: DocumentStore
  #clock: Clock

  constructor(documents: DocumentStore, clock: Clock) {
    this.#documents = documents
    this.#clock = clock
  }

  get(id: string): Promise<(SpaceRecord & Stored) | undefined> {
    return this.#documents.get(spaces, id)
  }

  getMany(ids: readonly string[]): Promise<ReadonlyMap<string, SpaceRecord & Stored>> {
    return this.#documents.getMany(spaces, ids)
  }

  all(): AsyncIterable<SpaceRecord & Stored> {
    return this.#documents.scan(spaces, { using: 'byCreated', where: eq('state', 'live') })
  }

  change(id: string, update: Update & { readonly where?: Where }, events: readonly NewEvent[]): Promise<SpaceRecord & Stored> {
    const access = update.set?.['access']
    const set = {
      modified: this.#clock.now().toISOString(),
      ...update.set,
      ...(access === undefined ? {} : { isPublic: access === 'PUBLIC' }),
      ...(typeof update.set?.['name'] === 'string' ? { nameKey: naturalKey(update.set['name']) } : {}),
    }
    return orNotFound('space', this.#documents.commit({ update: id, in: spaces, ...update, set }, events))
  }
}
wire(StoredSpaces, DocumentStore, Clock)
