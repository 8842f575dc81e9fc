import { collection, type Stored } from 'pounce/sdk'
import type { Job } from 'pounce/sdk/kit'

/** Where a job stands. A job that is done has no record. */
export type JobState = 'waiting' | 'running' | 'dead'

/** A job as stored. Dates are ISO 8601 texts in UTC. */
export interface JobRecord {
  readonly queue: string
  readonly target: Job['target']
  readonly user: Job['user']
  readonly message: Job['message']
  readonly parameters: Job['parameters']
  readonly state: JobState
  readonly published: string
  /** Not run before this; also its place in the queue. */
  readonly due: string
  /** Runs started and not released. */
  readonly attempts: number
  /** How many of them ended because the server itself did. */
  readonly crashes: number
  /** The worker that runs it, and until when that worker may be silent. */
  readonly owner: string | null
  readonly leaseUntil: string | null
  /** What the last attempt failed with. */
  readonly error: string | null
}

export type StoredJob = JobRecord & Stored

/** All jobs not yet done, of every queue. */
export const jobs = collection<JobRecord>()('transport.jobs', {
  due: { on: ['state', 'queue', 'due'] },
  byTarget: { on: ['target.kind', 'target.id', 'published'] },
  lease: { on: ['state', 'leaseUntil'] },
})

/** The job inside a record, as its publisher stated it. */
export const jobOf = ({ id, queue, target, user, message, parameters }: StoredJob): Job => ({
  id,
  queue,
  target,
  user,
  message,
  parameters,
})
