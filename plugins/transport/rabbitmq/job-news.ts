import type { JobStatus, TransportListener } from 'pounce/sdk'
import type { BusBook } from './bus-book.ts'
import type { StoredJob } from './bus-jobs.ts'
import { saysWeWereAway } from './our-fault.ts'
import { meaningOf } from './status-reply.ts'

/** How often a job is put back because we could not be reached, and how long we wait before that. */
const putBackAfterMs: readonly number[] = [3000, 20_000, 60_000]

/** What news means for the job it is about. The listener hears everything, also of jobs that are over or were never ours. */
export class JobNews {
  #book: BusBook
  #wasAway: (at: Date) => boolean
  #isOver: (jobId: string) => void

  constructor(book: BusBook, wasAway: (at: Date) => boolean, isOver: (jobId: string) => void) {
    this.#book = book
    this.#wasAway = wasAway
    this.#isOver = isOver
  }

  /** First the listener, then the record: what ends in between comes again. */
  async take(listener: TransportListener, status: JobStatus): Promise<void> {
    const { jobId, targetId, extractor } = status
    const job = await (jobId === undefined ? this.#book.underWay(targetId, extractor) : this.#book.get(jobId))
    const known = job ? { ...status, jobId: job.id } : status
    if (job && this.#isPutBack(job, status)) return this.#putBack(listener, job, known)
    await listener.status(known)
    if (job) await this.#note(job, status)
  }

  /** The extractor gave up because it could not reach us: by its own words, or because nobody could at that time. */
  #isPutBack(job: StoredJob, { status, at }: JobStatus): boolean {
    if (meaningOf(status) !== 'error' || job.state === 'dead' || isOld(job, at) || job.putBack >= putBackAfterMs.length) return false
    return saysWeWereAway(status, job.message['host']) || this.#wasAway(at)
  }

  async #putBack(listener: TransportListener, job: StoredJob, { status, at, ...about }: JobStatus): Promise<void> {
    const putBack = job.putBack + 1
    const text = status.replaceAll('StatusMessage.error: ', '')
    const said = `StatusMessage.retry: The server could not be reached, so the job is put back (${putBack} of ${putBackAfterMs.length}): ${text}`
    await listener.status({ ...about, status: said, at })
    await this.#book.become(job, 'parked', { status, heard: at.toISOString(), putBack }, putBackAfterMs[job.putBack])
  }

  async #note(job: StoredJob, { status, at }: JobStatus): Promise<void> {
    const meaning = meaningOf(status)
    if (meaning === 'done') {
      await this.#book.remove(job.id)
      this.#isOver(job.id)
      return
    }
    const heard = at.toISOString()
    // Repeated, or overtaken by later news.
    if (isOld(job, at)) return
    if (meaning === 'error') await this.#book.become(job, 'dead', { status, heard })
    else if (isBegin(status)) await this.#book.become(job, 'running', { status, heard, attempts: job.attempts + 1 })
    else if (job.state !== 'running' || status.includes('StatusMessage.retry')) await this.#book.become(job, 'running', { status, heard })
  }
}

const isOld = ({ heard }: StoredJob, at: Date): boolean => heard !== null && at.toISOString() < heard

const isBegin = (status: string): boolean => /^(StatusMessage\.start|START)\b/.test(status)
