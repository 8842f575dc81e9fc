import { collection, type MetadataRecord } from 'pounce/sdk'

/** JSON-LD documents; those of one thing in the order they were made. */
export const metadata = collection<MetadataRecord>('metadata', {
  byTarget: { on: ['target.id', 'created'] },
})
