import { isDue, type StoredJob } from './jobs.ts'

/** Reads the waiting jobs of a queue in order; `isAll` when there are no more. */
export type ReadBacklog = (queue: string, limit: number) => Promise<{ readonly jobs: readonly StoredJob[]; readonly isAll: boolean }>

interface Backlog {
  readonly queue: string
  /** Since when the queue has had a due job passed over for want of a process, in milliseconds. */
  passedOverSince: number | undefined
  /** Ordered by `due`. */
  jobs: StoredJob[]
  /** True when `jobs` holds all waiting jobs, as far as this process knows. */
  isAll: boolean
  /** A job was published that `jobs` lacks. */
  hasMissed: boolean
}

const emptyBacklog = (queue: string): Backlog => ({ queue, passedOverSince: undefined, jobs: [], isAll: false, hasMissed: false })

const pageSize = 100
const maxCached = 1000
/** Starting a process takes a few tenths of this. */
const maxPassedOverMs = 1000

/**
 * The heads of the queues that run here, kept in memory so that a job costs no query. Queues are served in rotation: a thousand files for
 * one extractor do not block the others. Queues with an idle process go first for a while: starting a process costs as much as many short runs.
 */
export class FairQueue {
  #backlogs: readonly Backlog[]
  #read: ReadBacklog
  #turn = 0

  constructor(queues: readonly string[], read: ReadBacklog) {
    this.#backlogs = queues.map(emptyBacklog)
    this.#read = read
  }

  /** Sets the queues that run here. */
  serve(queues: readonly string[]): void {
    if (queues.length === this.#backlogs.length && this.#backlogs.every(({ queue }, at) => queue === queues[at])) return
    this.#backlogs = queues.map(queue => this.#backlogs.find(backlog => backlog.queue === queue) ?? emptyBacklog(queue))
  }

  /** Adds jobs that were just stored; those of queues that do not run here are ignored. */
  add(added: readonly StoredJob[]): void {
    for (const job of added) {
      const backlog = this.#backlogs.find(({ queue }) => queue === job.queue)
      if (!backlog) continue
      if (backlog.isAll && backlog.jobs.length < maxCached) backlog.jobs.splice(indexFor(job, backlog.jobs), 0, job)
      else {
        backlog.isAll = false
        backlog.hasMissed = true
      }
    }
  }

  /** Clears the cache, so that jobs of other kernels are read. */
  refresh(): void {
    for (const backlog of this.#backlogs) {
      backlog.jobs = []
      backlog.isAll = false
    }
  }

  /**
   * Takes the next job that is due and for which `isHeld` is false. While others have jobs, queues for which `hasProcess` is false wait for
   * one second, or for one run that takes longer.
   */
  async next(now: string, isHeld: (id: string) => boolean, hasProcess: (queue: string) => boolean): Promise<StoredJob | undefined> {
    const due: Backlog[] = []
    for (const backlog of [...this.#backlogs.slice(this.#turn), ...this.#backlogs.slice(0, this.#turn)])
      if (await this.#hasDue(backlog, now, isHeld)) due.push(backlog)
    const nowMs = Date.parse(now)
    const hasWaited = ({ passedOverSince = nowMs }: Backlog): boolean => nowMs - passedOverSince >= maxPassedOverMs
    const chosen = due.find(hasWaited) ?? due.find(({ queue }) => hasProcess(queue)) ?? due[0]
    if (chosen === undefined) return undefined
    for (const backlog of due) if (!hasProcess(backlog.queue)) backlog.passedOverSince ??= nowMs
    chosen.passedOverSince = undefined
    this.#turn = this.#backlogs.indexOf(chosen) + 1
    return chosen.jobs.shift()
  }

  /** When the earliest cached job is due. */
  get nextDue(): string | undefined {
    const heads = this.#backlogs.flatMap(({ jobs }) => jobs[0]?.due ?? [])
    return heads.sort()[0]
  }

  /** Reads jobs where none are in memory; then whether the first of them can be taken. */
  async #hasDue(backlog: Backlog, now: string, isHeld: (id: string) => boolean): Promise<boolean> {
    if (backlog.jobs.length === 0 && !backlog.isAll) {
      backlog.hasMissed = false
      const { jobs, isAll } = await this.#read(backlog.queue, pageSize)
      backlog.jobs = jobs.filter(({ id }) => !isHeld(id))
      // A job published during the read may be missing from the result.
      backlog.isAll = isAll && !backlog.hasMissed
    }
    const dueAndHeld = (job: StoredJob | undefined): boolean => job !== undefined && isDue(job, now) && isHeld(job.id)
    while (dueAndHeld(backlog.jobs[0])) backlog.jobs.shift()
    const [first] = backlog.jobs
    return first !== undefined && isDue(first, now)
  }
}

function indexFor(job: StoredJob, jobs: readonly StoredJob[]): number {
  const last = jobs.findLastIndex(other => other.due <= job.due)
  return last + 1
}
