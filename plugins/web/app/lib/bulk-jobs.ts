import { toast } from '../components/toasts.tsx'
import { ApiError, api, apiPage, type Input } from './api.ts'
import { number } from './format.ts'
import { t } from './i18n.ts'
import { messageOf } from './messages.ts'

export type NewBulkJob = NonNullable<Input<'POST /api/bulk'>['body']>

/** The act of a job and its parameters. */
export type BulkChange = Omit<NewBulkJob, 'resources' | 'select'>

type BulkResource = NonNullable<NewBulkJob['resources']>[number]

export type Progress = (done: number) => void

/** Progress of an undo, which is not shown. */
export const unseen: Progress = () => undefined

/** The signal of an undo, which cannot be stopped. That of the action may be aborted. */
export const never = new AbortController().signal

/** How many resources were changed and how many refused, and the first reason. */
export interface Outcome {
  readonly done: number
  readonly failed: number
  readonly reason: unknown
  /** The ID of the changed resource; known where only one was. */
  readonly only?: string | undefined
  /** The server jobs, if any. */
  readonly jobs?: readonly string[]
}

/** The name for a message about the changed resource, where only one was. */
export const changedName = ({ only }: Outcome, targets: readonly { readonly id: string; readonly name: string }[]): string =>
  targets.find(({ id }) => id === only)?.name ?? ''

const maxInJob = 10_000
const pollMs = 500

/** As many jobs as these resources require. */
export const jobsFor = (
  resources: readonly { readonly kind: BulkResource['type']; readonly id: string }[],
  change: BulkChange,
): readonly NewBulkJob[] => {
  const jobs: NewBulkJob[] = []
  for (let from = 0; from < resources.length; from += maxInJob)
    jobs.push({ ...change, resources: resources.slice(from, from + maxInJob).map(({ kind, id }) => ({ type: kind, id })) })
  return jobs
}

/** Starts a server job and follows it to its end. */
const runJob = async (job: NewBulkJob, progress: Progress, signal: AbortSignal): Promise<Outcome> => {
  let state = await api('POST /api/bulk', { body: job })
  const path = { id: state.id }
  while (state.ended === null && !signal.aborted) {
    await new Promise(resolve => setTimeout(resolve, pollMs))
    state = await api('GET /api/bulk/{id}', { path })
    progress(state.done + state.failed)
  }
  if (state.ended === null) state = await api('DELETE /api/bulk/{id}', { path })
  const firstWith = (outcome: 'done' | 'failed') => api('GET /api/bulk/{id}/outcomes', { path, query: { state: outcome, limit: 1 } })
  const [refused] = state.failed > 0 ? await firstWith('failed') : []
  const [changed] = state.done === 1 ? await firstWith('done') : []
  const reason = refused ?? (state.message === undefined ? undefined : { message: state.message })
  return { done: state.done, failed: state.failed, reason: reason && new ApiError(400, reason), only: changed?.id, jobs: [state.id] }
}

/** Runs jobs one after another. */
export const runJobs = async (jobs: readonly NewBulkJob[], progress: Progress, signal: AbortSignal): Promise<Outcome> => {
  let sum: Outcome = { done: 0, failed: 0, reason: undefined }
  for (const each of jobs) {
    if (signal.aborted) break
    const before = sum.done + sum.failed
    const { done, failed, reason, only, jobs: ids = [] } = await runJob(each, count => progress(before + count), signal)
    sum = {
      done: sum.done + done,
      failed: sum.failed + failed,
      reason: sum.reason ?? reason,
      only: sum.only ?? only,
      jobs: [...(sum.jobs ?? []), ...ids],
    }
  }
  return sum
}

/** The files that server jobs changed. */
export const filesChangedBy = async ({ jobs = [] }: Outcome): Promise<readonly { readonly kind: 'file'; readonly id: string }[]> => {
  const files: { readonly kind: 'file'; readonly id: string }[] = []
  for (const id of jobs) {
    let after: string | undefined
    do {
      const { rows, next } = await apiPage('GET /api/bulk/{id}/outcomes', { path: { id }, query: { state: 'done', after } })
      for (const row of rows) if (row.type === 'file') files.push({ kind: 'file', id: row.id })
      after = next?.['after']
    } while (after !== undefined)
  }
  return files
}

/** Reports how many resources were refused, and why the first one was. */
export const toastFailures = ({ failed, reason }: Outcome): void => {
  if (failed > 0) toast(t('entries.failed', { count: failed, number: number(failed), reason: messageOf(reason) }))
}
