import { collection, type DatasetRecord, type Stored } from 'pounce/sdk'
import { indexesForOrders, trashIndexes } from 'pounce/sdk/kit'

export type Dataset = DatasetRecord & Stored

/** Datasets. Lists name several indexes, so that the store can merge those that match what the caller may view. */
export const datasets = collection<DatasetRecord>()('datasets', {
  byCreated: { on: ['state', 'created'] },
  ...indexesForOrders({
    bySpace: { on: ['state', 'spaces', 'created'], array: 'spaces', sparse: 'spaces' },
    byAuthor: { on: ['state', 'author', 'created'] },
    byPublic: { on: ['state', 'isPublic', 'created'] },
    byCollection: { on: ['state', 'collections', 'created'], array: 'collections', sparse: 'collections' },
  }),
  bySpaceAndAuthor: { on: ['state', 'spaces', 'author', 'created'], array: 'spaces' },
  byName: { on: ['state', 'name', 'created'] },
  byNamePiece: { on: ['state', 'name~', 'created'], array: 'name~' },
  ...trashIndexes,
})
