import { setTimeout as pause } from 'node:timers/promises'
import { Problem } from 'pounce/sdk'

/** True of an error that says a part is unavailable or full: no job is to blame for it. */
export const isUnavailable = (error: unknown): boolean => error instanceof Problem && (error.status === 503 || error.status === 507)

/** How long `withRetry` continues. */
export interface RetryPolicy {
  readonly signal: AbortSignal
  /** Tries that may fail with an error that is not "away". */
  readonly tries: number
  /** Before the second try; doubled for each further one. */
  readonly delayMs: number
  /** How long to wait for a part that is unavailable. */
  readonly awayMs: number
}

const longestPauseMs = 5000

/**
 * Calls again until it succeeds. While a part is unavailable that costs no try. Rejects with the last error when retryPolicy ends,
 * or at once with the signal's reason: a call that is under way is then left alone.
 */
export async function withRetry<T>(call: () => Promise<T>, { signal, tries, delayMs, awayMs }: RetryPolicy): Promise<T> {
  const until = performance.now() + awayMs
  let failures = 0
  let delay = delayMs
  for (;;) {
    signal.throwIfAborted()
    try {
      return await unlessAborted(call(), signal)
    } catch (error) {
      signal.throwIfAborted()
      const away = isUnavailable(error)
      if (!away) failures += 1
      if (failures >= tries || (away && performance.now() + delay > until)) throw error
    }
    await pause(delay, undefined, { signal }).catch(() => signal.throwIfAborted())
    delay = Math.min(delay * 2, longestPauseMs)
  }
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', onAbort))
}
