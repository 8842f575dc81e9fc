import { type JobFacts, type JobRecords, wire } from 'pounce/sdk'
import { StoredExtractions } from './stored-extractions.ts'

/** What the keys of jobs ask of runs: their ids are those of their jobs. */
export class JobRecordsOfRuns implements JobRecords {
  #extractions: StoredExtractions

  constructor(extractions: StoredExtractions) {
    this.#extractions = extractions
  }

  async factsOf(jobId: string): Promise<JobFacts | undefined> {
    const run = await this.#extractions.get(jobId)
    if (!run) return undefined
    const { target, user, extractor, state, end, endHeard = end, keysUntil } = run
    return {
      target,
      user,
      extractor,
      state: state === 'open' || state === 'cancelled' ? state : 'ended',
      ...(endHeard == null ? {} : { endedAt: new Date(endHeard) }),
      ...(keysUntil === undefined ? {} : { keysUntil: new Date(keysUntil) }),
    }
  }
}
wire(JobRecordsOfRuns, StoredExtractions)
