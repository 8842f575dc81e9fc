import { Files, type StoredEvent, wire } from 'pounce/sdk'
import { AllTransports, type Carriers } from './carriers.ts'
import { Extractions, type StoredExtractions } from './stored-extractions.ts'
import { type Submission, Submissions } from './submission.ts'

/** A new file in a dataset wakes the extractors that take its media type. */
export class WakeExtractors {
  #files: Files
  #submissions: Submission
  #transport: Carriers

  constructor(files: Files, submissions: Submission, transport: Carriers) {
    this.#files = files
    this.#submissions = submissions
    this.#transport = transport
  }

  async handle({ subject, data }: StoredEvent<'file.created'>): Promise<void> {
    const file = data.extract && data.dataset !== null ? await this.#files.get(subject.id) : undefined
    if (!file || data.dataset === null) return
    const jobs = await this.#submissions.ofUpload(file, data.dataset)
    await this.#files.jobsChanged(file.id, { add: jobs.map(job => job.id) })
    if (jobs.length > 0) await this.#transport.publish(jobs)
  }
}
wire(WakeExtractors, Files, Submissions, AllTransports)

/** When the last run of an upload has ended, the file is PROCESSED. */
export class FinishUpload {
  #files: Files
  #extractions: StoredExtractions

  constructor(files: Files, extractions: StoredExtractions) {
    this.#files = files
    this.#extractions = extractions
  }

  async handle({ subject, data: { target } }: StoredEvent<'extraction.status'>): Promise<void> {
    const run = await this.#extractions.get(subject.id)
    if (run?.isFinished && run.trigger === 'upload' && target.kind === 'file') await this.#files.jobsChanged(target.id, { done: [run.id] })
  }
}
wire(FinishUpload, Files, Extractions)

/** Runs are forgotten with what they ran on. */
export class FollowTarget {
  #extractions: StoredExtractions

  constructor(extractions: StoredExtractions) {
    this.#extractions = extractions
  }

  async handle({ subject }: StoredEvent<'file.removed' | 'dataset.removed'>): Promise<void> {
    await this.#extractions.forget(subject)
  }
}
wire(FollowTarget, Extractions)
