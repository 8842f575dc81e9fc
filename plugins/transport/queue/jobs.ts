import { collection, type Stored } from 'pounce/sdk'
import type { Job } from 'pounce/sdk/kit'

/** The state of a job. A job that is done has no record. */
export type JobState = 'waiting' | 'running' | 'dead'

/** A job as stored. Dates are ISO 8601 strings in UTC. */
export interface JobRecord {
  readonly queue: string
  readonly target: Job['target']
  readonly user: Job['user']
  readonly message: Job['message']
  readonly parameters: Job['parameters']
  readonly state: JobState
  readonly published: string
  /** Earliest start; also its position in the queue. */
  readonly due: string
  /** Runs started and not released. */
  readonly attempts: number
  /** How many of those runs ended because the server stopped or crashed. */
  readonly crashes: number
  /** The worker that runs it, and when its lease expires. */
  readonly owner: string | null
  readonly leaseUntil: string | null
  /** Error of the last attempt. */
  readonly error: string | null
}

export type StoredJob = JobRecord & Stored

/** All unfinished jobs of every queue. */
export const jobs = collection<JobRecord>()('transport.jobs', {
  due: { on: ['state', 'queue', 'due'] },
  byTarget: { on: ['target.kind', 'target.id', 'published'] },
  lease: { on: ['state', 'leaseUntil'] },
})

/** Whether it can start. A job published in the future is from before the clock was set back: its times are void. */
export const isDue = ({ due, published }: JobRecord, now: string): boolean => due <= now || published > now

/** The job in a record, as its publisher submitted it. */
export const jobOf = ({ id, queue, target, user, message, parameters }: StoredJob): Job => ({
  id,
  queue,
  target,
  user,
  message,
  parameters,
})
