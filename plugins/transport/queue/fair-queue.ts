import type { StoredJob } from './jobs.ts'

/** Reads the waiting jobs of a queue in order; `isAll` when there are no more. */
export type ReadLane = (queue: string, limit: number) => Promise<{ readonly jobs: readonly StoredJob[]; readonly isAll: boolean }>

interface Lane {
  readonly queue: string
  /** In order of `due`. */
  jobs: StoredJob[]
  /** True when `jobs` holds all waiting jobs, as far as this process has seen. */
  isAll: boolean
  /** Something was published that `jobs` lacks. */
  hasMissed: boolean
}

const emptyLane = (queue: string): Lane => ({ queue, jobs: [], isAll: false, hasMissed: false })

const pageSize = 100
const mostHeld = 1000

/**
 * The heads of the queues that run here, kept in memory so that a job costs no query. Queues take turns: a thousand files for one
 * extractor do not block the others.
 */
export class FairQueue {
  #lanes: readonly Lane[]
  #read: ReadLane
  #turn = 0

  constructor(queues: readonly string[], read: ReadLane) {
    this.#lanes = queues.map(emptyLane)
    this.#read = read
  }

  /** From now on these queues run here, others no more. */
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

  /** Clears the memory, so that jobs of other kernels are read. */
  refresh(): void {
    for (const lane of this.#lanes) {
      lane.jobs = []
      lane.isAll = false
    }
  }

  /** Takes the next job that is due and for which `isHeld` is false. */
  async next(now: string, isHeld: (id: string) => boolean): Promise<StoredJob | undefined> {
    for (let tried = 0; tried < this.#lanes.length; tried++) {
      const lane = this.#lanes[(this.#turn + tried) % this.#lanes.length]
      if (!lane) continue
      const job = await this.#head(lane, now, isHeld)
      if (!job) continue
      this.#turn = (this.#turn + tried + 1) % this.#lanes.length
      return job
    }
    return undefined
  }

  /** When the earliest of the jobs in memory is due. */
  get nextDue(): string | undefined {
    const heads = this.#lanes.flatMap(({ jobs }) => jobs[0]?.due ?? [])
    return heads.sort()[0]
  }

  async #head(lane: Lane, now: string, isHeld: (id: string) => boolean): Promise<StoredJob | undefined> {
    if (lane.jobs.length === 0 && !lane.isAll) {
      lane.hasMissed = false
      const { jobs, isAll } = await this.#read(lane.queue, pageSize)
      lane.jobs = jobs.filter(({ id }) => !isHeld(id))
      // What was published during the read may not be in its answer.
      lane.isAll = isAll && !lane.hasMissed
    }
    for (let job = lane.jobs[0]; job && job.due <= now; job = lane.jobs[0]) {
      lane.jobs.shift()
      if (!isHeld(job.id)) return job
    }
    return undefined
  }
}

function placeOf(job: StoredJob, jobs: readonly StoredJob[]): number {
  const later = jobs.findLastIndex(other => other.due <= job.due)
  return later + 1
}
