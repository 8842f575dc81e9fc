import { useCallback, useState } from 'react'
import type { Progress } from '../lib/bulk-jobs.ts'
import { number } from '../lib/format.ts'
import { t } from '../lib/i18n.ts'
import { messageOf } from '../lib/messages.ts'
import { Button } from './controls.tsx'
import { DotProgress } from './page-parts.tsx'
import { toast } from './toasts.tsx'

/** A running action on selected rows. */
interface Work {
  readonly label: string
  readonly done: number
  readonly total: number
  readonly stop: () => void
}

/** No progress is shown for up to this many rows: the action ends too soon to read it. */
const maxUnseen = 8

/** Runs actions on selected rows, with progress to show in a `WorkLine`. */
export const useWork = () => {
  const [work, setWork] = useState<Work>()
  const run = useCallback(
    async (label: string, total: number, act: (progress: Progress, signal: AbortSignal) => Promise<void>): Promise<void> => {
      const stop = new AbortController()
      const show = (done: number): void => {
        if (total > maxUnseen) setWork({ label, done, total, stop: () => stop.abort() })
      }
      show(0)
      try {
        await act(show, stop.signal)
      } catch (error) {
        toast(messageOf(error))
      } finally {
        setWork(undefined)
      }
    },
    [],
  )
  return { work, run }
}

export const WorkLine = ({ work: { label, done, total, stop } }: { readonly work: Work }) => (
  <div className="work-line">
    <span role="status">{t('entries.progress', { label, done: number(done), total: number(total) })}</span>
    <DotProgress done={done} total={total} label={label} />
    <Button look="quiet" onPress={stop}>
      {t('entries.stop')}
    </Button>
  </div>
)
