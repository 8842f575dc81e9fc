import { setTimeout as pause } from 'node:timers/promises'

/** Polls until the result is accepted; rejects after `limitMs`, with what was awaited and the last result. */
export const until = async <T>(
  what: string,
  look: () => Promise<T> | T,
  counts: (seen: T) => boolean = Boolean,
  limitMs = 60_000,
): Promise<T> => {
  const end = performance.now() + limitMs
  for (let waitMs = 2; ; waitMs = Math.min(waitMs * 2, 50)) {
    const seen = await look()
    if (counts(seen)) return seen
    if (performance.now() > end)
      throw new Error(`Waited ${limitMs} ms for ${what}; seen last: ${String(JSON.stringify(seen)).slice(-2000)}`)
    await pause(waitMs)
  }
}

/** Resolves when the server's outbox is empty, according to the admin API; rejects if an event was dead-lettered. */
export const drained = async (call: (path: string) => Promise<Response>, limitMs = 30_000): Promise<void> => {
  const look = async () => (await (await call('/readyz')).json()) as { readonly waiting?: number; readonly parked?: number }
  const { parked } = await until('the outbox to be empty', look, seen => seen.waiting === 0, limitMs)
  if (parked !== 0) throw new Error(`${parked} events were dead-lettered`)
}
