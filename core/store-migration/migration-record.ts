import { createHash } from 'node:crypto'
import { collection, type DocumentStore } from 'pounce/sdk'
import { StartupError } from '../kernel/startup-error.ts'

/** What was moved and compared. */
export interface MoveReport {
  readonly collections: number
  readonly documents: number
  readonly blobs: number
  readonly bytes: number
  /** Null when they stay where they are, or there is no store of points. */
  readonly points: number | null
  /** Files that the last run copied; earlier ones, which were interrupted, may have copied the others. */
  readonly copiedNow: number
  /** Records that named bytes which were missing or damaged before the move. */
  readonly withoutBytes: number
  readonly verified: 'counts and checksums' | 'counts and checksums, every byte read'
}

/** The record of a migration in its target. */
export interface MoveRecord {
  /** Such as `sqlite+disk to mongodb+s3`, or `sqlite+disk+rtree to sqlite+disk+postgis`. */
  readonly route: string
  /** Name of the installation that is moved. */
  readonly instance: string
  /** While it is `under way` no server starts on the target. `moved`: everything is there and was compared; notes of the move may still be. */
  readonly state: 'under way' | 'moved' | 'finished'
  readonly begun: string
  readonly ended: string | null
  /** What was moved, once it is. */
  readonly report: MoveReport | null
}
export const moveRecords = collection<MoveRecord>()('kernel.moves')

/** Bytes that are in the new store, by their key in the old one. Kept until the move is finished. */
export interface MovedBlob {
  readonly from: string
  readonly to: string
  readonly sizeBytes: number
  /** Hex. */
  readonly sha256: string
}
export const movedBlobs = collection<MovedBlob>()('kernel.moved-blobs')

const shortDigest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 24)

/** The one record of a move. */
export const moveId = shortDigest('move')

/** The record of a blob, by its key in the old store. */
export const movedBlobId = shortDigest

/** No server starts on stores that an installation was only half moved into. */
export const refuseUnfinishedMove = async (documents: DocumentStore): Promise<void> => {
  const move = await documents.get(moveRecords, moveId)
  if (move?.state !== 'under way') return
  const [from = '', to = ''] = move.route.split(' to ')
  throw new StartupError(`A migration to this store is not complete: run \`pounce migrate --from ${from} --to ${to}\` again to continue it`)
}
