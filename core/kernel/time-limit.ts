import { setTimeout as wait } from 'node:timers/promises'

/** Rejects with `message` when the work takes longer than `limitMs`; the work itself is not stopped. */
export const withTimeLimit = async <T>(work: Promise<T> | T, limitMs: number, message: string): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(message)), limitMs)
  })
  try {
    return await Promise.race([work, limit])
  } finally {
    clearTimeout(timer)
  }
}

/** Resolves after `ms`, or at once when the signal is aborted. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> => wait(ms, undefined, { signal }).catch(() => undefined)
