import { setTimeout as pause } from 'node:timers/promises'
import { Problem } from 'pounce/sdk'

const maxPauseMs = 5000

/** True for an error that means that a service is unavailable or full: no message caused it. */
export const isUnavailable = (error: unknown): boolean => error instanceof Problem && (error.status === 503 || error.status === 507)

/** Retries until the call succeeds: indefinitely while a service is unavailable, five times otherwise. Rejects with the last error, or when aborted. */
export async function withRetry<T>(call: () => Promise<T>, signal: AbortSignal, firstMs = 200): Promise<T> {
  let delay = firstMs
  for (let failures = 0; ; ) {
    signal.throwIfAborted()
    try {
      return await call()
    } catch (error) {
      signal.throwIfAborted()
      if (!isUnavailable(error)) failures += 1
      if (failures >= 5) throw error
    }
    await pause(delay, undefined, { signal }).catch(() => signal.throwIfAborted())
    delay = Math.min(delay * 2, maxPauseMs)
  }
}
