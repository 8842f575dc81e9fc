import { setTimeout as wait } from 'node:timers/promises'

/** Rejects when the work takes longer than `limitMs`, with a message or an error. The work itself is not stopped; its outcome is ignored. */
export const withTimeLimit = async <T>(work: Promise<T> | T, limitMs: number, late: string | (() => Error)): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(typeof late === 'string' ? new Error(late) : late()), limitMs)
  })
  try {
    return await Promise.race([work, limit])
  } finally {
    clearTimeout(timer)
  }
}

/** Resolves after `ms`, or as soon as the signal is aborted. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> => wait(ms, undefined, { signal }).catch(() => undefined)
