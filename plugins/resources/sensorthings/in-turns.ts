import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * A few at a time, and once they have taken `stintMs` together it is the turn of other requests: what resolves at once would else be one turn,
 * however often one request asks for it.
 */
export const inTurns = <Q, A>(together: number, stintMs: number, work: (question: Q) => Promise<A>): ((question: Q) => Promise<A>) => {
  const waiting: (() => void)[] = []
  let running = 0
  let untilMs = performance.now() + stintMs
  const begin = async (): Promise<void> => {
    if (running >= together) await new Promise<void>(resolve => waiting.push(resolve))
    else running += 1
    while (performance.now() > untilMs) {
      await nextTurn()
      untilMs = Math.max(untilMs, performance.now() + stintMs)
    }
  }
  const end = (): void => {
    // The place of the one that ends is the next one's.
    const next = waiting.shift()
    if (next) next()
    else running -= 1
  }
  return async question => {
    await begin()
    try {
      return await work(question)
    } finally {
      end()
    }
  }
}
