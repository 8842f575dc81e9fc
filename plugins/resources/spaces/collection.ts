import { collection, type SpaceRecord } from 'pounce/sdk'

/** A space as stored. `spaces` is its own id, so that one condition of the policy fits spaces, collections and datasets alike. */
export type StoredSpace = SpaceRecord & { readonly spaces: readonly string[] }

export const spaces = collection<StoredSpace>('spaces', {
  byCreated: { on: ['state', 'created'] },
  bySpace: { on: ['state', 'spaces', 'created'], array: 'spaces' },
  byAuthor: { on: ['state', 'author', 'created'] },
  byNamePiece: { on: ['state', 'name~', 'created'], array: 'name~' },
  byPublic: { on: ['state', 'isPublic', 'created'] },
})
