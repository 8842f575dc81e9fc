import { collection, type Kind, type Time } from 'pounce/sdk'
import type { BulkAct, BulkParameters, BulkPlace } from 'pounce/sdk/kit'

/** All files of a dataset or folder that match, as they are when the job begins. */
export interface BulkSelection extends BulkPlace {
  /** Also those in the folders below. */
  readonly recursive: boolean
  /** Text in the name, whatever its case. */
  readonly filter?: string | undefined
  /** Ids of files that are left alone. */
  readonly except: readonly string[]
}

/** Something to be done to many resources. */
export interface BulkJobRecord {
  readonly user: string
  /** It was requested in superadmin mode. */
  readonly superAdmin: boolean
  readonly act: BulkAct
  readonly parameters: BulkParameters
  /** Until its resources are known. */
  readonly select?: BulkSelection
  /** `preparing`: the request that creates it has not ended. */
  readonly state: 'preparing' | 'collecting' | 'running' | 'finished' | 'failed' | 'cancelled'
  /** Unknown while they are collected. */
  readonly total: number | null
  /** Chunk that is due. */
  readonly next: number
  readonly done: number
  readonly failed: number
  readonly created: Time
  readonly ended: Time | null
  /** When it is forgotten; null while there is something to do. */
  readonly expires: Time | null
  /** Why it failed as a whole. */
  readonly message: string | null
}

export const bulkJobs = collection<BulkJobRecord>()('bulk-jobs', {
  byUser: { on: ['user', 'created'] },
  byState: { on: ['user', 'state'] },
  byExpiry: { on: ['expires'] },
})

/** A resource of a job, and what came of it. */
export interface BulkItem {
  readonly type: Kind
  readonly id: string
  readonly state: 'waiting' | 'done' | 'failed'
  /** Code and message of the refusal. */
  readonly code?: string
  readonly message?: string
}

/** Resources of a job that are dealt with in one step. Its id is `<job>-<number>`. */
export interface BulkChunkRecord {
  readonly job: string
  readonly number: number
  readonly items: readonly BulkItem[]
  /** How often it was begun: what is gone at a second time, the first one may have deleted. */
  readonly begun: number
  readonly isDone: boolean
}

export const bulkChunks = collection<BulkChunkRecord>()('bulk-chunks', { byJob: { on: ['job', 'number'] } })

export const chunkId = (job: string, number: number): string => `${job}-${number}`

/** Resources in a chunk. */
export const chunkSize = 100
