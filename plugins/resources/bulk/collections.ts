import { collection, type Kind, type Time } from 'pounce/sdk'
import type { BulkAct, BulkParameters, BulkPlace } from 'pounce/sdk/kit'

/** All files of a dataset or folder that match when the job begins. */
export interface BulkSelection extends BulkPlace {
  /** Include files in subfolders. */
  readonly recursive: boolean
  /** Substring of the name, case-insensitive. */
  readonly filter?: string | undefined
  /** Ids of files to exclude. */
  readonly except: readonly string[]
}

/** An operation on many resources. */
export interface BulkJobRecord {
  readonly user: string
  /** Requested in superadmin mode. */
  readonly superAdmin: boolean
  readonly act: BulkAct
  readonly parameters: BulkParameters
  /** Present until the resources have been collected. */
  readonly select?: BulkSelection
  /** `preparing`: the request that creates it has not completed. */
  readonly state: 'preparing' | 'collecting' | 'running' | 'finished' | 'failed' | 'cancelled'
  /** Null until they have been collected. */
  readonly total: number | null
  /** The next chunk. */
  readonly next: number
  readonly done: number
  readonly failed: number
  readonly created: Time
  readonly ended: Time | null
  /** When it is deleted; null until it has ended. */
  readonly expires: Time | null
  /** Why it failed as a whole. */
  readonly message: string | null
}

export const bulkJobs = collection<BulkJobRecord>()('bulk-jobs', {
  byUser: { on: ['user', 'created'] },
  byState: { on: ['user', 'state'] },
  byExpiry: { on: ['expires'] },
})

/** A resource of a job and its outcome. */
export interface BulkItem {
  readonly type: Kind
  readonly id: string
  readonly state: 'waiting' | 'done' | 'failed'
  /** Code and message of the refusal. */
  readonly code?: string
  readonly message?: string
}

/** Resources of a job that are processed in one step. Its id is `<job>-<number>`. */
export interface BulkChunkRecord {
  readonly job: string
  readonly number: number
  readonly items: readonly BulkItem[]
  /** Number of attempts: a resource that is missing in the second attempt may have been deleted by the first. */
  readonly begun: number
  readonly isDone: boolean
}

export const bulkChunks = collection<BulkChunkRecord>()('bulk-chunks', { byJob: { on: ['job', 'number'] } })

export const chunkId = (job: string, number: number): string => `${job}-${number}`

/** Resources in a chunk. */
export const chunkSize = 100
