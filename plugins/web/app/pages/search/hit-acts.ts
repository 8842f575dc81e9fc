import { toast, toastFailure } from '../../components/toasts.tsx'
import { changedName, jobsFor, never, type Progress, runJobs, toastFailures, unseen } from '../../lib/bulk-jobs.ts'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/i18n.ts'
import { serverTime } from '../../lib/session.ts'
import type { SelectableHit } from './hit-selection.tsx'

/** Deletes files, and datasets: these move to the trash where there is one. */
export const deleteHits = async (hits: readonly SelectableHit[], progress: Progress, signal: AbortSignal): Promise<void> => {
  const outcome = await runJobs(jobsFor(hits, { act: 'delete' }), progress, signal)
  if (outcome.done > 0) toast(t('entries.deleted', { count: outcome.done, number: number(outcome.done), name: changedName(outcome, hits) }))
  toastFailures(outcome)
}

interface TagChange {
  readonly hits: readonly SelectableHit[]
  readonly tags: readonly string[]
  readonly isAdding: boolean
  /** Removes only tags that this user added from this time on. */
  readonly addedSince?: string | undefined
  readonly progress: Progress
  readonly signal: AbortSignal
}

/** Adds tags to hits, or removes them. Adding offers an undo, which keeps tags that were there before. */
export const changeHitTags = async ({ hits, tags, isAdding, addedSince, progress, signal }: TagChange): Promise<void> => {
  const begun = serverTime(performance.now())
  const change = { act: isAdding ? 'tag' : 'untag', tags, ...(addedSince !== undefined && { addedSince }) } as const
  const outcome = await runJobs(jobsFor(hits, change), progress, signal)
  const about = { count: outcome.done, number: number(outcome.done), name: changedName(outcome, hits) }
  const undo = (): void =>
    void changeHitTags({ hits, tags, isAdding: false, addedSince: begun, progress: unseen, signal: never }).catch(toastFailure)
  if (outcome.done > 0)
    toast(
      t(isAdding ? 'selection.tagged' : 'selection.untagged', about),
      isAdding && begun !== undefined ? { label: t('undo'), run: undo } : undefined,
    )
  toastFailures(outcome)
}
