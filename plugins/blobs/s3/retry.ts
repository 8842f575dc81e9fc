import { setTimeout as pause } from 'node:timers/promises'
import { Unavailable } from 'pounce/sdk'
import { asProblem, isPassing } from './s3-problems.ts'

/** One attempt of a call: it ends when `signal` aborts, and calls `moved` whenever bytes are transferred. */
export type Try<T> = (signal: AbortSignal, moved: () => void) => Promise<T>

/** How long to wait for a response, and whether to retry. */
export interface RequestRetryPolicy {
  /** An attempt is abandoned when no bytes are transferred for this long. */
  readonly idleMs?: number
  /** Maximum number of attempts. */
  readonly tries?: number
  /** Aborts: rejects with its reason. */
  readonly signal?: AbortSignal | undefined
}

/** Time within which another attempt may start, below the 10 s in which a store must report that it is unavailable. */
export const usualIdleMs = 7000
const retryWithinMs = 2000
const firstPauseMs = 50

/** Retries a call on temporary errors, and abandons it when the server does not respond. Rejects with a `Problem`. */
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
    // the SDK replaces the reason of an aborted signal with its own error
    if (controller.signal.aborted) throw controller.signal.reason
    throw error
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', stop)
  }
}
