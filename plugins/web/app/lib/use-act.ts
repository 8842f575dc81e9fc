import { useState } from 'react'
import { messageOf } from './messages.ts'

/** An act of a form. */
export interface Act {
  readonly isBusy: boolean
  /** What the server refused. */
  readonly error: string | undefined
  readonly run: (act: () => Promise<unknown>) => Promise<void>
}

/** Runs the act of a form: busy while it runs, with the message of what was refused. */
export const useAct = (): Act => {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  const run = async (act: () => Promise<unknown>): Promise<void> => {
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
