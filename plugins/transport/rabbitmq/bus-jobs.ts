import { collection, type Stored } from 'pounce/sdk'
import type { Job } from 'pounce/sdk/kit'

/**
 * Where a job stands. `unsent`: not published yet. `sent`: the broker confirmed it. `running`: an extractor sent a status. `parked`: its extractor
 * put it into the error queue while we were away; it is put back. `dead`: its extractor gave up. A job that is done has no record.
 */
export type JobState = 'unsent' | 'sent' | 'running' | 'parked' | 'dead'

/** A job as stored. Dates are ISO 8601 texts in UTC. */
export interface JobRecord {
  readonly queue: string
  readonly target: Job['target']
  readonly user: Job['user']
  readonly message: Job['message']
  readonly parameters: Job['parameters']
  /** Its message carries a key of its own. Absent from those that were stored before jobs had keys. */
  readonly hasOwnKey?: true
  readonly state: JobState
  readonly published: string
  /** `unsent` and `parked`: anyone who finds it after this may deal with it. A kernel that does puts it off by its lease first. */
  readonly due: string
  /** `unsent`: a kernel is sending it, until `due`. */
  readonly isHeld: boolean
  /** Runs that extractors reported to have begun. */
  readonly attempts: number
  /** How often it was put back out of the error queue. */
  readonly putBack: number
  /** Its last status text, without keys. */
  readonly status: string | null
  /** When its extractor said that. */
  readonly heard: string | null
}

export type StoredJob = JobRecord & Stored

/** All jobs for extractors on the bus that are not yet done. */
export const busJobs = collection<JobRecord>()('transport.bus.jobs', {
  due: { on: ['state', 'due'] },
  byQueue: { on: ['state', 'queue'] },
  byTarget: { on: ['target.kind', 'target.id', 'published'] },
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
