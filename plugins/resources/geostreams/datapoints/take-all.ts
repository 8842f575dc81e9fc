import { Invalid, NoSpace, Problem } from 'pounce/sdk'
import type { BulkBody } from './bulk-body.ts'
import type { DatapointImportRun } from './datapoint-import.ts'
import type { DatapointImportReport } from './datapoint-import-report.ts'
import { parsePoint } from './point-json.ts'
import type { SentPoint } from './point-lines.ts'
import { isRefused, readPoint, refusalOf } from './read-point.ts'

const take = (sent: SentPoint, run: DatapointImportRun, stream: number | undefined): Promise<void> | undefined => {
  const { line } = sent
  const parsed = 'text' in sent ? parsePoint(sent.text) : sent.refused
  if (isRefused(parsed)) {
    run.refuse(line, parsed)
    return undefined
  }
  try {
    return run.add(line, readPoint(parsed.value, { stream }))
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    run.refuse(line, refusalOf(error.message))
    return undefined
  }
}

/** The same problem, and how far it had gone. */
const withReport = (error: unknown, report: DatapointImportReport): unknown => {
  if (!(error instanceof Problem) || report.inserted + report.refused === 0) return error
  const { status, code, retryAfterSeconds } = error
  const more = retryAfterSeconds === undefined ? {} : { retryAfterSeconds }
  // Its own words are that nothing was stored.
  const what = error instanceof NoSpace && report.inserted > 0 ? 'No storage space left' : error.message
  return new Problem(status, code, `${what}. ${report.inserted} datapoints were stored before the error`, {
    ...more,
    cause: error,
    details: { ...error.details, ...report.toJSON() },
  })
}

/** Takes in a whole body. When it breaks off, or the store goes away, what was stored stays and the problem says how much that is. */
export const takeAll = async ({ points, stream }: BulkBody, run: DatapointImportRun): Promise<DatapointImportReport> => {
  try {
    for await (const some of points)
      for (const sent of some) {
        const full = take(sent, run, stream)
        if (full) await full
      }
  } catch (error) {
    await run.abandon()
    throw withReport(error, run.report)
  }
  try {
    return await run.finish()
  } catch (error) {
    throw withReport(error, run.report)
  }
}
