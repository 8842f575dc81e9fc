import { type DatasetRecord, Datasets, type FileRecord, Files, ReportedRuns, type Stored, s, Users, wire } from 'pounce/sdk'
import { type CellValue, inBatches, type ReportedRun } from 'pounce/sdk/kit'
import { personOf } from './people-reports.ts'
import type { Span } from './record-reports.ts'
import { linesFrom, type Report, type ReportFormat } from './report.ts'

const columns = [
  ...['userid', 'username', 'email', 'resource_id', 'resource_type', 'space_id', 'extractor', 'job_id', 'job_type'],
  ...['status_count', 'last_status', 'start', 'end', 'duration_ms'],
]
const waiting = 'SUBMITTED'

/** A phase of a run: until processing began, or from then on. */
export interface Phase {
  readonly type: 'queue' | 'work'
  readonly statusCount: number
  readonly lastStatus: string
  readonly start: string
  readonly end: string
}

/** The phases of a run that took any time. Waiting ends when processing begins. */
const phasesOf = ({ lines }: Pick<ReportedRun, 'lines'>): readonly Phase[] => {
  const begun = lines.findIndex(({ status }) => status !== waiting)
  const queued = begun < 0 ? lines : lines.slice(0, begun)
  const worked = begun < 0 ? [] : lines.slice(begun)
  const phase = (type: Phase['type'], part: ReportedRun['lines'], until: string | undefined): readonly Phase[] => {
    const [first, last] = [part[0], part.at(-1)]
    if (!first || !last) return []
    const end = until ?? last.at
    return end <= first.at ? [] : [{ type, statusCount: part.length, lastStatus: last.status, start: first.at, end }]
  }
  return [...phase('queue', queued, worked[0]?.at), ...phase('work', worked, undefined)]
}

/** Wait and run times of extractions. */
export class ExtractorReports {
  #runs: ReportedRuns
  #users: Users
  #files: Files
  #datasets: Datasets

  constructor(runs: ReportedRuns, users: Users, files: Files, datasets: Datasets) {
    this.#runs = runs
    this.#users = users
    this.#files = files
    this.#datasets = datasets
  }

  /** Runs requested within a span, both ends inclusive. */
  runs(span: Span): Report {
    return {
      name: 'ExtractorMetrics',
      columns,
      hasQuotedHead: true,
      lines: format => linesFrom(format, columns, this.#rows(span, format)),
    }
  }

  async *#rows({ since, until }: Span, format: ReportFormat): AsyncGenerator<readonly CellValue[]> {
    for await (const some of inBatches(this.#runs.between(since, until))) {
      const users = await this.#users.getMany([...new Set(some.flatMap(run => run.user ?? []))])
      const spacesOf = await this.#spacesOf(some)
      for (const run of some) {
        const { name, email } = personOf(users.get(run.user ?? ''))
        const about = [run.user ?? '', name, email, run.target.id, run.target.kind, spacesOf(run.target.id), run.extractor, run.id]
        for (const { type, statusCount, lastStatus, start, end } of phasesOf(run)) {
          const row = [...about, type, statusCount, lastStatus, s.toV1Date(start), s.toV1Date(end), Date.parse(end) - Date.parse(start)]
          // In this report v1 quotes numbers too.
          yield format === 'csv' ? row.map(cell => (Array.isArray(cell) ? cell : String(cell))) : row
        }
      }
    }
  }

  /** The spaces of each target of runs: of a dataset directly, of a file through its datasets. */
  async #spacesOf(runs: readonly ReportedRun[]): Promise<(id: string) => readonly string[]> {
    const idsOf = (kind: string) => [...new Set(runs.filter(run => run.target.kind === kind).map(run => run.target.id))]
    const files: ReadonlyMap<string, FileRecord & Stored> = await this.#files.getMany(idsOf('file'))
    const parents = new Map([...files].map(([id, { places }]) => [id, places.map(({ dataset }) => dataset)]))
    const ids = [...new Set([...idsOf('dataset'), ...[...parents.values()].flat()])]
    const datasets = new Map<string, DatasetRecord & Stored>()
    for (let at = 0; at < ids.length; at += 1000)
      for (const [id, dataset] of await this.#datasets.getMany(ids.slice(at, at + 1000))) datasets.set(id, dataset)
    return id => [...new Set((parents.get(id) ?? [id]).flatMap(dataset => datasets.get(dataset)?.spaces ?? []))]
  }
}
wire(ExtractorReports, ReportedRuns, Users, Files, Datasets)
