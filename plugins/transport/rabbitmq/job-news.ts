import type { JobStatus, TransportListener } from 'pounce/sdk'
import type { BusBook } from './bus-book.ts'
import type { StoredJob } from './bus-jobs.ts'
import { meaningOf } from './status-reply.ts'

/** What news means for the job it is about. The listener hears everything, also of jobs that are over or were never ours. */
export class JobNews {
  #book: BusBook
  #isOver: (jobId: string) => void

  constructor(book: BusBook, isOver: (jobId: string) => void) {
    this.#book = book
    this.#isOver = isOver
  }

  /** First the listener, then the record: what ends in between comes again. */
  async take(listener: TransportListener, status: JobStatus): Promise<void> {
    const { jobId, targetId, extractor } = status
    const job = await (jobId === undefined ? this.#book.underWay(targetId, extractor) : this.#book.get(jobId))
    await listener.status(job ? { ...status, jobId: job.id } : status)
    if (job) await this.#note(job, status)
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
    if (job.heard !== null && heard < job.heard) return
    if (meaning === 'error') await this.#book.become(job, 'dead', { status, heard })
    else if (isBegin(status)) await this.#book.become(job, 'running', { status, heard, attempts: job.attempts + 1 })
    else if (job.state !== 'running' || status.includes('StatusMessage.retry')) await this.#book.become(job, 'running', { status, heard })
  }
}

const isBegin = (status: string): boolean => /^(StatusMessage\.start|START)\b/.test(status)
