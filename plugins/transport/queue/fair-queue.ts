import { isDue, type StoredJob } from './jobs.ts'

/** Reads the waiting jobs of a queue in order; `isAll` when there are no more. */
export type ReadLane = (queue: string, limit: number) => Promise<{ readonly jobs: readonly StoredJob[]; readonly isAll: boolean }>

interface Lane {
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

const emptyLane = (queue: string): Lane => ({ queue, passedOverSince: undefined, jobs: [], isAll: false, hasMissed: false })

const pageSize = 100
const mostHeld = 1000
/** Starting a process takes a few tenths of this. */
const mostPassedOverMs = 1000

/**
 * The heads of the queues that run here, kept in memory so that a job costs no query. Queues are served in rotation: a thousand files for
 * one extractor do not block the others. Queues with an idle process go first for a while: starting a process costs as much as many short runs.
 */
export class FairQueue {
  #lanes: readonly Lane[]
  #read: ReadLane
  #turn = 0

  constructor(queues: readonly string[], read: ReadLane) {
    this.#lanes = queues.map(emptyLane)
    this.#read = read
  }

  /** Sets the queues that run here. */
  serve(queues: readonly string[]): void {
    if (queues.length === this.#lanes.length && this.#lanes.every(({ queue }, at) => queue === queues[at])) return
    this.#lanes = queues.map(queue => this.#lanes.find(lane => lane.queue === queue) ?? emptyLane(queue))
  }

  /** Adds jobs that were just stored; those of queues that do not run here are ignored. */
  add(added: readonly StoredJob[]): void {
    for (const job of added) {
      const lane = this.#lanes.find(({ queue }) => queue === job.queue)
      if (!lane) continue
      if (lane.isAll && lane.jobs.length < mostHeld) lane.jobs.splice(placeOf(job, lane.jobs), 0, job)
      else {
        lane.isAll = false
        lane.hasMissed = true
      }
    }
  }

  /** Clears the cache, so that jobs of other kernels are read. */
  refresh(): void {
    for (const lane of this.#lanes) {
      lane.jobs = []
      lane.isAll = false
    }
  }

  /**
   * Takes the next job that is due and for which `isHeld` is false. While others have jobs, queues for which `hasProcess` is false wait for
   * one second, or for one run that takes longer.
   */
  async next(now: string, isHeld: (id: string) => boolean, hasProcess: (queue: string) => boolean): Promise<StoredJob | undefined> {
    const due: Lane[] = []
    for (const lane of [...this.#lanes.slice(this.#turn), ...this.#lanes.slice(0, this.#turn)])
      if (await this.#hasDue(lane, now, isHeld)) due.push(lane)
    const nowMs = Date.parse(now)
    const hasWaited = ({ passedOverSince = nowMs }: Lane): boolean => nowMs - passedOverSince >= mostPassedOverMs
    const chosen = due.find(hasWaited) ?? due.find(({ queue }) => hasProcess(queue)) ?? due[0]
    if (chosen === undefined) return undefined
    for (const lane of due) if (!hasProcess(lane.queue)) lane.passedOverSince ??= nowMs
    chosen.passedOverSince = undefined
    this.#turn = this.#lanes.indexOf(chosen) + 1
    return chosen.jobs.shift()
  }

  /** When the earliest cached job is due. */
  get nextDue(): string | undefined {
    const heads = this.#lanes.flatMap(({ jobs }) => jobs[0]?.due ?? [])
    return heads.sort()[0]
  }

  /** Reads jobs where none are in memory; then whether the first of them can be taken. */
  async #hasDue(lane: Lane, now: string, isHeld: (id: string) => boolean): Promise<boolean> {
    if (lane.jobs.length === 0 && !lane.isAll) {
      lane.hasMissed = false
      const { jobs, isAll } = await this.#read(lane.queue, pageSize)
      lane.jobs = jobs.filter(({ id }) => !isHeld(id))
      // A job published during the read may be missing from the result.
      lane.isAll = isAll && !lane.hasMissed
    }
    const dueAndHeld = (job: StoredJob | undefined): boolean => job !== undefined && isDue(job, now) && isHeld(job.id)
    while (dueAndHeld(lane.jobs[0])) lane.jobs.shift()
    const [first] = lane.jobs
    return first !== undefined && isDue(first, now)
  }
}

function placeOf(job: StoredJob, jobs: readonly StoredJob[]): number {
  const later = jobs.findLastIndex(other => other.due <= job.due)
  return later + 1
}
