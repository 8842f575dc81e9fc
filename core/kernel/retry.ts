/** How often and how soon something is tried again. */
export interface RetryRule {
  /** Failures after which an event is dead-lettered. */
  readonly tries: number
  readonly firstMs: number
  readonly longestMs: number
  readonly factor: number
  /** Longest pause while a backend is unavailable: soon after it returns, work must go on (promises P4-P7). */
  readonly outageMs: number
}

export const usualRetry: RetryRule = { tries: 5, firstMs: 100, longestMs: 300_000, factor: 8, outageMs: 5_000 }

/** Milliseconds until the next try after `failures` of them, spread so that not everything comes back at once. */
export const backOff = (rule: Pick<RetryRule, 'firstMs' | 'longestMs' | 'factor'>, failures: number): number => {
  const whole = Math.min(rule.longestMs, rule.firstMs * rule.factor ** Math.max(0, failures - 1))
  return Math.round(whole * (0.75 + Math.random() / 4))
}

/** True of a failure that says a backend is unavailable or full: trying again later is right, however often. */
export const isOutage = (error: unknown): boolean =>
  error instanceof Error && 'status' in error && (error.status === 503 || error.status === 507)

/**
 * How long the next batch gathers under load: twice as long as the last one took, within bounds. Fewer and larger batches, and nobody waits
 * noticeably longer; the first event after a rest never waits.
 */
export const gatherMsAfter = (tookMs: number): number => Math.min(15, Math.max(4, 2 * tookMs))
