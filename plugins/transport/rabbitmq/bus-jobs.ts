import { collection, type Stored } from 'pounce/sdk'
import type { Job } from 'pounce/sdk/kit'

/**
 * The state of a job. `unsent`: not published yet. `sent`: the broker confirmed it. `running`: an extractor sent a status. `parked`: its extractor
 * put it into the error queue while the server was unreachable; it will be requeued. `dead`: its extractor gave up. A job that is done has no record.
 */
export type JobState = 'unsent' | 'sent' | 'running' | 'parked' | 'dead'

/** A job as stored. Dates are ISO 8601 strings in UTC. */
export interface JobRecord {
  readonly queue: string
  readonly target: Job['target']
  readonly user: Job['user']
  readonly message: Job['message']
  readonly parameters: Job['parameters']
  /** Its message contains a key of its own. Absent for jobs stored before jobs had keys. */
  readonly hasOwnKey?: true
  readonly state: JobState
  readonly published: string
  /** `unsent` and `parked`: any kernel may process it after this time. A kernel that does first postpones it by its lease. */
  readonly due: string
  /** `unsent`: a kernel is sending it, until `due`. */
  readonly isHeld: boolean
  /** Runs that extractors reported as started. */
  readonly attempts: number
  /** How often it was requeued from the error queue. */
  readonly putBack: number
  /** Its last status text, without keys. */
  readonly status: string | null
  /** The name under which its extractor reports, if it is not that of the queue. */
  readonly reporter?: string
  /** When its extractor reported that. */
  readonly heard: string | null
}

export type StoredJob = JobRecord & Stored

/** All unfinished jobs for extractors on the bus. */
export const busJobs = collection<JobRecord>()('transport.bus.jobs', {
  due: { on: ['state', 'due'] },
  byQueue: { on: ['state', 'queue'] },
  byTarget: { on: ['target.kind', 'target.id', 'published'] },
})

/** The job in a record, as its publisher submitted it. */
export const jobOf = ({ id, queue, target, user, message, parameters }: StoredJob): Job => ({
  id,
  queue,
  target,
  user,
  message,
  parameters,
})
