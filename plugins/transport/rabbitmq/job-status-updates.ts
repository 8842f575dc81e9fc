import type { JobStatus, TransportListener } from 'pounce/sdk/kit'
import type { JobRecord, JobState, StoredJob } from './bus-jobs.ts'
import type { RabbitJobRepository } from './rabbit-job-repository.ts'
import { meaningOf } from './status-reply.ts'

/** Messages of requests and urllib3 for a refused connection, and for a 5xx response. */
const unreachable =
  /Max retries exceeded|Connection aborted|Connection refused|Connection reset|Connection broken|RemoteDisconnected|Read timed out|ConnectTimeout|NewConnectionError|NameResolutionError|\b5\d\d Server Error\b/

const addresses = /host='([^']{1,255})'|https?:\/\/([^/\s:'"?]{1,255})/g

/** A URL of an API, with a key in its query. */
const hasKey = (word: string): boolean => {
  const path = word.indexOf('/api/')
  return path !== -1 && ['?key=', '&key='].some(key => word.includes(key, path))
}

/**
 * True for a text in which an extractor reports that it could not reach us, rather than some other service. `host` is the host in the job's
 * message; extractors may use another one for us (`CLOWDER_URL`), but only requests to us contain `?key=`.
 */
export function reportsUnavailableServer(text: string, host: unknown): boolean {
  return unreachable.test(text) && isAboutUs(text, host)
}

/** True for a text in which an extractor reports that we rejected the key of its job. */
export function reportsRefusedKey(text: string, host: unknown): boolean {
  return /\b401 Client Error\b/.test(text) && isAboutUs(text, host)
}

/** pyclowder's text for every failure before it has sent the subject of the job. */
export const hasNoReason = (text: string): boolean => /^StatusMessage\.error: Error processing message\.?$/.test(text.trim())

function isAboutUs(text: string, host: unknown): boolean {
  if (text.split(/[\s'"]/).some(hasKey)) return true
  const named = [...text.matchAll(addresses)].map(([, quoted, plain]) => quoted ?? plain)
  const own = typeof host === 'string' && URL.canParse(host) ? new URL(host).hostname : undefined
  return named.every(name => name === own)
}

/** How often a job is requeued because we were unreachable, and the delays before that. */
const putBackAfterMs: readonly number[] = [3000, 20_000, 60_000]

/** Applies replies to their jobs. The listener receives all of them, also those of finished and unknown jobs. */
export class JobStatusUpdates {
  #repository: RabbitJobRepository
  #wasAway: (at: Date) => boolean
  #isOver: (jobId: string) => void

  constructor(repository: RabbitJobRepository, wasAway: (at: Date) => boolean, isOver: (jobId: string) => void) {
    this.#repository = repository
    this.#wasAway = wasAway
    this.#isOver = isOver
  }

  /**
   * The listener first, then the record: after a crash in between, the reply is redelivered. `sentJob` is the job of the message that an old
   * extractor, which sends no job id, replies to: unknown once it has requeued the message.
   */
  async take(listener: TransportListener, status: JobStatus, sentJob?: string): Promise<void> {
    const job = await this.#jobOf(status, sentJob)
    if (!job) {
      await listener.status(status)
      return
    }
    const putBack = this.#isPutBack(job, status) ? job.putBack + 1 : undefined
    const statusText = putBack === undefined ? status.status : putBackText(status.status, putBack, isKeyRefused(job, status.status))
    const answer = await listener.status({ ...status, jobId: job.id, status: statusText })
    const meaning = meaningOf(status.status)
    if (meaning === 'done' || (meaning === 'error' && answer === 'unknown')) {
      await this.#repository.remove(job.id)
      this.#isOver(job.id)
    } else await this.#note(job, status, putBack)
  }

  async #jobOf({ jobId, targetId, extractor }: JobStatus, sentJob: string | undefined): Promise<StoredJob | undefined> {
    if (jobId !== undefined) return this.#repository.get(jobId)
    const sent = sentJob === undefined ? undefined : await this.#repository.get(sentJob)
    return sent ?? this.#repository.underWay(targetId, extractor)
  }

  /** The extractor gave up because it could not reach us: by its own message, or because the API was down at that time. */
  #isPutBack(job: StoredJob, { status, at }: JobStatus): boolean {
    if (meaningOf(status) !== 'error' || job.state === 'dead' || job.state === 'parked') return false
    return (
      job.putBack < putBackAfterMs.length &&
      (reportsUnavailableServer(status, job.message['host']) || isKeyRefused(job, status) || this.#wasAway(at))
    )
  }

  /** The sender may record the message as sent at the same moment: then the job is read again. */
  async #note(known: StoredJob, status: JobStatus, putBack: number | undefined): Promise<void> {
    let job: StoredJob | undefined = known
    while (job && !(await this.#noteOn(job, status, putBack))) job = await this.#repository.get(job.id)
  }

  /** False when the job changed meanwhile. */
  async #noteOn(job: StoredJob, { status, at, extractor }: JobStatus, putBack: number | undefined): Promise<boolean> {
    const heard = at.toISOString()
    const reporter = extractor === job.queue ? {} : { reporter: extractor }
    const become = async (...change: readonly [JobState, Partial<JobRecord>?, number?]): Promise<boolean> =>
      (await this.#repository.become(job, change[0], { status, heard, ...reporter, ...change[1] }, change[2])) !== undefined
    if (meaningOf(status) === 'error') {
      // A repeat: it is already being requeued.
      if (job.state === 'parked') return true
      return putBack === undefined ? become('dead') : become('parked', { putBack }, putBackAfterMs[putBack - 1])
    }
    // Repeated, or older than one already applied.
    if (job.heard !== null && heard < job.heard) return true
    if (isBegin(status)) return become('running', { attempts: job.attempts + 1 })
    return job.state === 'running' && !status.includes('StatusMessage.retry') ? true : become('running')
  }
}

/** Its key expired in the queue, or its message predates job keys and contains one that is no longer valid. */
const isKeyRefused = ({ message, hasOwnKey }: StoredJob, status: string): boolean =>
  reportsRefusedKey(status, message['host']) || (hasOwnKey !== true && hasNoReason(status))

const putBackText = (status: string, putBack: number, isRefused: boolean): string =>
  `StatusMessage.retry: ${isRefused ? 'The key of the job was rejected' : 'The server was unreachable'}, so the job is requeued (${putBack} of ${putBackAfterMs.length}): ${status.replaceAll('StatusMessage.error: ', '')}`

const isBegin = (status: string): boolean => /^(StatusMessage\.start|START)\b/.test(status)
