const leastTurns = 5
const maxTurns = 60

/**
 * Returns undefined if each call takes less than twice as long as any other, otherwise the times. The calls alternate, and the best time of each is used, for
 * as many rounds as necessary: a busy machine slows single rounds down, but all calls alike.
 */
export const timingDifference = async (calls: Readonly<Record<string, () => Promise<unknown>>>): Promise<string | undefined> => {
  const best = new Map(Object.keys(calls).map(name => [name, Number.POSITIVE_INFINITY]))
  const isAlike = (): boolean => Math.max(...best.values()) < 2 * Math.min(...best.values())
  for (let turn = 0; turn < maxTurns && (turn < leastTurns || !isAlike()); turn += 1)
    for (const [name, call] of Object.entries(calls)) {
      const startedAt = performance.now()
      await call()
      best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, performance.now() - startedAt))
    }
  return isAlike() ? undefined : [...best].map(([name, ms]) => `${name}: ${ms.toFixed(2)} ms`).join(', ')
}
