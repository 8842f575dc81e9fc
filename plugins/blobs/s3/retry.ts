import { setTimeout as pause } from 'node:timers/promises'
import { Unavailable } from 'pounce/sdk'
import { asProblem, isPassing } from './s3-problems.ts'

/** One try of a call: it ends when `signal` aborts, and says `moved` whenever bytes went over the wire. */
export type Try<T> = (signal: AbortSignal, moved: () => void) => Promise<T>

/** How long to wait for an answer, and whether to retry. */
export interface RequestRetryPolicy {
  /** The try is given up when nothing moves for this long. */
  readonly idleMs?: number
  /** At most this many. */
  readonly tries?: number
  /** Aborts: rejects with its reason. */
  readonly signal?: AbortSignal | undefined
}

/** With the time in which another try may begin, below the 10 s in which a store that is unavailable must say so. */
export const usualIdleMs = 7000
const retryWithinMs = 2000
const firstPauseMs = 50

/** Makes a call again when it failed in a way that passes, and gives it up when the other side is silent. Rejects with a `Problem`. */
export async function withRetry<T>(call: Try<T>, { idleMs = usualIdleMs, tries = 4, signal }: RequestRetryPolicy = {}): Promise<T> {
  const begin = performance.now()
  for (let count = 1; ; count += 1) {
    try {
      return await once(call, idleMs, signal)
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      const pauseMs = firstPauseMs * 3 ** (count - 1) * (0.5 + Math.random())
      const isOver = count >= tries || performance.now() - begin + pauseMs > retryWithinMs
      if (isOver || !isPassing(error)) throw asProblem(error)
      await pause(pauseMs)
    }
  }
}

async function once<T>(call: Try<T>, idleMs: number, outer?: AbortSignal): Promise<T> {
  outer?.throwIfAborted()
  const controller = new AbortController()
  const silent = new Unavailable(`No response from the blob store for ${idleMs / 1000} s`)
  const giveUp = (): void => controller.abort(silent)
  const stop = (): void => controller.abort(outer?.reason)
  const timer = setTimeout(giveUp, idleMs)
  outer?.addEventListener('abort', stop, { once: true })
  try {
    return await call(controller.signal, () => timer.refresh())
  } catch (error) {
    // the SDK makes an error of its own of an aborted signal
    if (controller.signal.aborted) throw controller.signal.reason
    throw error
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', stop)
  }
}
