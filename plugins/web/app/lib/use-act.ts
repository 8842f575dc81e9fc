import { useState } from 'react'
import { messageOf } from './messages.ts'

/** The action of a form. */
export interface Act {
  readonly isBusy: boolean
  /** The server's error. */
  readonly error: string | undefined
  readonly run: (act: () => Promise<unknown>) => Promise<void>
}

/** Runs the action of a form: busy while it runs, when it is not started again, with the error message afterwards. */
export const useAct = (): Act => {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  const run = async (act: () => Promise<unknown>): Promise<void> => {
    if (isBusy) return
    setBusy(true)
    setError(undefined)
    try {
      await act()
    } catch (failure) {
      setError(messageOf(failure))
    } finally {
      setBusy(false)
    }
  }
  return { isBusy, error, run }
}
