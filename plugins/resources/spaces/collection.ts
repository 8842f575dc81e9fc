import { collection, type SpaceRecord } from 'pounce/sdk'

/** A space as stored. `spaces` is its own id, so that one condition of the policy fits spaces, collections and datasets alike. */
export type StoredSpace = SpaceRecord & {
  readonly spaces: readonly string[]
  /** When it was last said that old things in it should go. */
  readonly expiryAt?: string
}

export const spaces = collection<StoredSpace>('spaces', {
  byCreated: { on: ['state', 'created'] },
  bySpace: { on: ['state', 'spaces', 'created'], array: 'spaces' },
  byAuthor: { on: ['state', 'author', 'created'] },
  byNamePiece: { on: ['state', 'name~', 'created'], array: 'name~' },
  byTimeToLive: { on: ['state', 'isTimeToLiveEnabled'] },
  byPublic: { on: ['state', 'isPublic', 'created'] },
})
