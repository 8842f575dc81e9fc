import { InTrash } from 'pounce/sdk'
import { isOutage } from 'pounce/sdk/kit'
import type { StoredJob } from './jobs.ts'
import { type FailureKind, RunFailure } from './run-failure.ts'

/** What happens to a job after a run. */
export type FailureDecision =
  | { readonly end: 'done' | 'cancelled' | 'lost' }
  | {
      readonly end: 'waiting'
      readonly inMs: number
      /** False: as if the attempt had not been made. */
      readonly counts: boolean
      readonly error: string | null
      /** A message for the listener, if any. */
      readonly status?: string
    }
  | { readonly end: 'dead'; readonly error: string; readonly status: string }

/** True when the run failed, as opposed to being interrupted. */
export const isFailure = (result: FailureDecision): boolean => result.end === 'dead' || (result.end === 'waiting' && result.counts)

/** Maximum runs of a job before it is dead-lettered. Being killed three times is no accident; failures of the server get more attempts, and a full disk a day. */
const maxRuns: Readonly<Record<FailureKind, number>> = { refused: 1, killed: 3, full: 15, fault: 5 }

const unavailableDelayMs = 10_000

/** Longest delay between two looks at a resource in the trash. */
const maxTrashDelayMs = 60 * 60_000

const inTrashText = 'The resource is in the trash; the run waits until it is restored'

/** Decides what happens to a job whose run failed with `error`, or was interrupted. */
export function decideOnFailure(
  error: unknown,
  interruption: 'cancelled' | 'stopping' | 'lost' | undefined,
  context: { readonly job: StoredJob; readonly now: Date; readonly retryDelayMs: number; readonly paths: ReadonlyMap<string, string> },
): FailureDecision {
  const { job, now, retryDelayMs, paths } = context
  if (interruption === 'stopping') return { end: 'waiting', inMs: 0, counts: false, error: job.error }
  if (interruption !== undefined) return { end: interruption }
  const text = presentable(error, paths)
  if (isOutage(error)) return { end: 'waiting', inMs: unavailableDelayMs, counts: false, error: text }
  if (error instanceof InTrash) {
    // Soon after a job that was published recently, and at last so rarely that a full trash costs little.
    const inMs = Math.min(maxTrashDelayMs, Math.max(retryDelayMs, (now.getTime() - Date.parse(job.published)) / 2))
    return { end: 'waiting', inMs, counts: false, error: inTrashText, status: `StatusMessage.retry: ${inTrashText}` }
  }
  const kind = error instanceof RunFailure ? error.kind : 'fault'
  const runs = job.attempts - job.crashes
  if (runs >= maxRuns[kind]) return { end: 'dead', error: text, status: `StatusMessage.error: ${text}` }
  return {
    end: 'waiting',
    inMs: retryDelayMs * 2 ** (runs - 1),
    counts: true,
    error: text,
    status: `StatusMessage.retry: (#${runs}) ${text}`,
  }
}

function presentable(error: unknown, paths: ReadonlyMap<string, string>): string {
  // Other errors come from inside the server; their text is only logged.
  let text = error instanceof RunFailure ? error.message : 'The result could not be stored'
  for (const [path, name] of paths) text = text.replaceAll(path, name)
  return text.slice(0, 1000)
}
