import { isSuccessStatus } from 'pounce/sdk/kit'
import type { RunState, StatusLine } from './collections.ts'

const maxLines = 100
const maxStatusLength = 2000

/** The status of a requested run before its first status message. */
export const submitted = 'SUBMITTED'
/** The server's own statuses of a run, which extractors do not send. */
export const cancelStatuses = { requested: 'Cancel Requested', success: 'Cancel Success', failed: 'Cancel Failed' } as const

const serverStatuses: ReadonlySet<string> = new Set([submitted, ...Object.values(cancelStatuses)])

/** Keys of any kind in status messages: `?key=x`, `"secretKey": "x"`, `key%3Dx`, `X-API-Key: x`. */
const keys = /(key["']?\s*(?:=|:|%3D)\s*["']?)[^&\s"'<>,;)\]}]+/gi
/** The key of a job, which an extractor may print without a name. */
const jobKeys = /job_[\w-]{40,}/g

/** As v1 stores it: any status that contains "done" becomes DONE, except progress. Every key is masked, not only the global one; half a surrogate pair is replaced. */
export const normalizeStatus = (status: string): string =>
  isSuccessStatus(status)
    ? 'DONE'
    : status
        .slice(0, 10 * maxStatusLength)
        .replace(jobKeys, 'secretKey')
        .replace(keys, '$1secretKey')
        .slice(0, maxStatusLength)
        .toWellFormed()

/** Messages that arrive within this time of each other may have been reordered on their way through several kernels. */
const reorderedMs = 2000

/** Compares the times of the extractors' clocks, unless the messages arrived so far apart that those clocks must differ. */
const isAfter = (line: StatusLine, other: StatusLine): boolean => {
  if (line.at <= other.at) return false
  return line.heard === undefined || other.heard === undefined || Date.parse(other.heard) - Date.parse(line.heard) < reorderedMs
}

const isError = ({ status }: StatusLine): boolean => status.includes('StatusMessage.error')

const roundStart = (lines: readonly StatusLine[]): number => lines.findLastIndex(({ status }) => status === submitted)

/**
 * The lines with another one inserted in chronological order; undefined when it is there already. Lines from before the run was requested
 * again stay in front.
 */
export const withLine = (lines: readonly StatusLine[], line: StatusLine): readonly StatusLine[] | undefined => {
  const start = Math.max(roundStart(lines), 0)
  const round = lines.slice(start)
  if (round.some(({ status, at }) => status === line.status && at === line.at)) return undefined
  const before = Math.max(round.findLastIndex(({ at, status }) => status === submitted || at <= line.at) + 1, 0)
  const next = [...round.slice(0, before), line, ...round.slice(before)]
  // The line with the time of the request is always kept.
  const latest = next.length > maxLines ? [...next.slice(0, 1), ...next.slice(1 - maxLines)] : next
  const free = maxLines - latest.length
  return [...(free > 0 ? lines.slice(0, start).slice(-free) : []), ...latest]
}

/**
 * The state of a run, computed from the lines since it was (last) requested. The result does not depend on the order or repetition of the
 * lines: DONE is final; a cancelled run stays cancelled; an error is final unless a later line shows that the run continues.
 */
export const outcomeOf = (
  lines: readonly StatusLine[],
): { readonly status: string; readonly state: RunState; readonly end: string | null } => {
  const round = lines.slice(Math.max(roundStart(lines), 0))
  const last = (state: RunState, line: StatusLine) => ({ status: line.status, state, end: state === 'open' ? null : line.at })
  const done = round.find(({ status }) => status === 'DONE')
  if (done) return last('done', done)
  const cancelled = round.find(({ status }) => status === cancelStatuses.success)
  if (cancelled) return last('cancelled', cancelled)
  const error = round.findLast(isError)
  const continues = round.some(line => error !== undefined && isAfter(line, error) && !serverStatuses.has(line.status))
  if (error && !continues) return last('failed', error)
  const newest = round.at(-1)
  return newest ? last('open', newest) : { status: submitted, state: 'open', end: null }
}
