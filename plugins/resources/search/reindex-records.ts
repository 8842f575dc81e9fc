import { collection, type Ref } from 'pounce/sdk'

/** One building of the index, of everything or of one thing, as all kernels know it. */
export interface ReindexRecord {
  /** Null: everything. */
  readonly what: Ref | null
  /** With what is in it. */
  readonly isRecursive: boolean
  readonly state: 'queued' | 'running' | 'done' | 'failed'
  /** Why, for people. */
  readonly reason: string
  /** Times are ISO 8601. */
  readonly requested: string
  readonly started: string | null
  readonly ended: string | null
  /** Resources so far. */
  readonly count: number
  /** Resources there are; null while they are being counted. */
  readonly total: number | null
  /** Why it failed. */
  readonly problem: string | null
  /** The kernel at work, and until when it must have been heard of. */
  readonly owner: string | null
  readonly until: string | null
}

export const reindexRecords = collection<ReindexRecord>('search.reindexing', { byState: { on: ['state'] } })
