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

type Call = (path: string) => Promise<Response>

/**
 * Resolves when the server's outbox is empty, according to the admin API; rejects if an event was dead-lettered. Of several kernels on one store, each
 * counts events of the others only after a while, so all of them must be passed.
 */
export const drained = async (kernels: Call | readonly Call[], limitMs = 30_000): Promise<void> => {
  const look = () =>
    Promise.all(
      [kernels].flat().map(async call => (await (await call('/readyz')).json()) as { readonly waiting?: number; readonly parked?: number }),
    )
  const seen = await until('the outbox to be empty', look, all => all.every(({ waiting }) => waiting === 0), limitMs)
  const parked = seen.find(each => each.parked !== 0)
  if (parked) throw new Error(`${parked.parked} events were dead-lettered`)
}
