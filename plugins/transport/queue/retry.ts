import { setTimeout as pause } from 'node:timers/promises'
import { isOutage } from 'pounce/sdk/kit'

/** Limits of `withRetry`. */
export interface RetryPolicy {
  readonly signal: AbortSignal
  /** Maximum attempts that fail with an error other than `Unavailable` or `NoSpace`. */
  readonly tries: number
  /** Delay before the second attempt; doubled for each further one. */
  readonly delayMs: number
  /** How long to wait for an unavailable service. */
  readonly unavailableMs: number
}

const maxPauseMs = 5000

/**
 * Retries until the call succeeds. Failures while a service is unavailable do not count as attempts. Rejects with the last error when the
 * attempts are used up, or at once with the signal's reason: a pending call is then left alone.
 */
export async function withRetry<T>(call: () => Promise<T>, { signal, tries, delayMs, unavailableMs }: RetryPolicy): Promise<T> {
  const until = performance.now() + unavailableMs
  let failures = 0
  let delay = delayMs
  for (;;) {
    signal.throwIfAborted()
    try {
      return await unlessAborted(call(), signal)
    } catch (error) {
      signal.throwIfAborted()
      const isUnavailable = isOutage(error)
      if (!isUnavailable) failures += 1
      if (failures >= tries || (isUnavailable && performance.now() + delay > until)) throw error
    }
    await pause(delay, undefined, { signal }).catch(() => signal.throwIfAborted())
    delay = Math.min(delay * 2, maxPauseMs)
  }
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', onAbort))
}
