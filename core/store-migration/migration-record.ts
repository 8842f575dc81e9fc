import { createHash } from 'node:crypto'
import { collection, type DocumentStore } from 'pounce/sdk'
import { StartupError } from '../kernel/startup-error.ts'

/** The result of a migration. */
export interface MoveReport {
  readonly collections: number
  readonly documents: number
  readonly blobs: number
  readonly bytes: number
  /** Null if datapoints are not migrated, or there is no datapoint store. */
  readonly points: number | null
  /** Files copied by the last run; earlier, interrupted runs may have copied the others. */
  readonly copiedNow: number
  /** Records whose bytes were missing or damaged before the migration. */
  readonly withoutBytes: number
  readonly verified: 'counts and checksums' | 'counts and checksums, every byte read'
}

/** The record of a migration in its target. */
export interface MoveRecord {
  /** For instance `sqlite+disk to mongodb+s3`, or `sqlite+disk+rtree to sqlite+disk+postgis`. */
  readonly route: string
  /** Name of the migrated installation. */
  readonly instance: string
  /**
   * `under way`: no server starts on the target. `moved`: all data is copied and verified; records of migrated blobs may remain, and the search index may not
   * be rebuilt yet.
   */
  readonly state: 'under way' | 'moved' | 'finished'
  readonly begun: string
  readonly ended: string | null
  /** Present once the data has been migrated. */
  readonly report: MoveReport | null
}
export const moveRecords = collection<MoveRecord>()('kernel.moves')

/** A migrated blob, by its key in the old store. Kept until the migration is finished. */
export interface MovedBlob {
  readonly from: string
  readonly to: string
  readonly sizeBytes: number
  /** Hex. */
  readonly sha256: string
}
export const movedBlobs = collection<MovedBlob>()('kernel.moved-blobs')

const shortDigest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 24)

/** The id of the single migration record. */
export const moveId = shortDigest('move')

/** The id of a blob's record, from its key in the old store. */
export const movedBlobId = shortDigest

/** Ends a migration: repeating it is refused from now on. */
export const finishMove = async (documents: DocumentStore): Promise<void> => {
  await documents.commit({ update: moveId, in: moveRecords, set: { state: 'finished' } })
}

/** Refuses to start on the target of an unfinished migration. */
export const refuseUnfinishedMove = async (documents: DocumentStore): Promise<void> => {
  const move = await documents.get(moveRecords, moveId)
  if (move?.state !== 'under way') return
  const [from = '', to = ''] = move.route.split(' to ')
  throw new StartupError(`A migration to this store is not complete: run \`pounce migrate --from ${from} --to ${to}\` again to continue it`)
}
