import { Clock, wire } from 'pounce/sdk'
import type { ExtractionRun } from './stored-extractions.ts'
import { StoredExtractions } from './stored-extractions.ts'

const dayMs = 24 * 60 * 60 * 1000
const maxMeasuredRuns = 10

/** Mean duration of the latest runs: at most ten, from SUBMITTED to DONE. */
export interface MeanDuration {
  /** Null when none is done. */
  readonly seconds: number | null
  readonly runs: number
}

/** Usage metrics of an extractor. */
export interface Usage {
  readonly lastDay: MeanDuration
  readonly lastMonth: MeanDuration
  /** Requested runs, each counted up to 100,000. */
  readonly jobs: { readonly lastSevenDays: number; readonly lastMonth: number }
  /** Submitters among the latest thousand runs of a month, the most active first. */
  readonly byUser: readonly { readonly user: string | null; readonly jobs: number; readonly newest: string }[]
}

const meanDurationOf = (runs: readonly ExtractionRun[]): MeanDuration => {
  const seconds = runs.map(({ start, end }) => Math.max(0, (Date.parse(end ?? start) - Date.parse(start)) / 1000))
  const mean = seconds.reduce((sum, each) => sum + each, 0) / seconds.length
  return { seconds: runs.length === 0 ? null : Math.round(mean * 1000) / 1000, runs: runs.length }
}

const byUser = (newestFirst: readonly ExtractionRun[]): Usage['byUser'] => {
  const users = new Map<string | null, { jobs: number; newest: string }>()
  for (const { user, start } of newestFirst) {
    const known = users.get(user)
    if (known) known.jobs++
    else users.set(user, { jobs: 1, newest: start })
  }
  return [...users].map(([user, totals]) => ({ user, ...totals })).sort((a, b) => b.jobs - a.jobs)
}

/** Computes usage metrics of extractors from their runs. */
export class ExtractorUsage {
  #extractions: StoredExtractions
  #clock: Clock

  constructor(extractions: StoredExtractions, clock: Clock) {
    this.#extractions = extractions
    this.#clock = clock
  }

  /** The metrics of one queue; a month is 30 days. */
  async of(queue: string): Promise<Usage> {
    const now = this.#clock.now().getTime()
    const [day, week, month] = [1, 7, 30].map(days => new Date(now - days * dayMs)) as [Date, Date, Date]
    const runs = this.#extractions
    return {
      lastDay: meanDurationOf(await runs.ofQueue(queue, day, maxMeasuredRuns, 'done')),
      lastMonth: meanDurationOf(await runs.ofQueue(queue, month, maxMeasuredRuns, 'done')),
      jobs: { lastSevenDays: await runs.countOfQueue(queue, week), lastMonth: await runs.countOfQueue(queue, month) },
      byUser: byUser(await runs.ofQueue(queue, month, 1000)),
    }
  }
}
wire(ExtractorUsage, StoredExtractions, Clock)
