/** The outcome of a test run. */
export interface Totals {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

const result = /^(ok|not ok) \d+ - (.*)$/
const reasonOf = (title: string): string => /\(([^()]+)\)$/.exec(title.replace(/ *# SKIP$/, ''))?.[1] ?? 'no reason given'
/** A file ended before its tests, each of which is counted as failed. */
const remaining = /^# \d+ tests? remaining in /
const trailer = /^# (tests|pass|skip|fail) (\d+)$/

/**
 * Parses ava's TAP output line by line. The totals are those that ava prints at the end rather than a count of lines, because they
 * include tests that never ran.
 */
export class TapTally {
  #counted = { passed: 0, failed: 0, skipped: 0 }
  #stated = new Map<string, number>()
  /** Number of skipped tests by reason, which is in brackets at the end of their titles. */
  readonly skips: Map<string, number> = new Map()
  #isFailing = false

  /** Parses one line; returns true if it should be shown: failures with their details, and files that ended early. */
  take(line: string): boolean {
    const test = result.exec(line)
    if (test) {
      const [, outcome, title = ''] = test
      const isSkipped = outcome === 'ok' && title.endsWith('# SKIP')
      this.#isFailing = outcome === 'not ok'
      this.#counted[this.#isFailing ? 'failed' : isSkipped ? 'skipped' : 'passed'] += 1
      if (isSkipped) this.skips.set(reasonOf(title), (this.skips.get(reasonOf(title)) ?? 0) + 1)
      return this.#isFailing
    }
    const total = trailer.exec(line)
    if (total) this.#stated.set(total[1] ?? '', Number(total[2]))
    if (total || /^(1\.\.\d+|TAP version \d+)?$/.test(line)) {
      this.#isFailing = false
      return false
    }
    const isShown = this.#isFailing || !line.startsWith('#') || remaining.test(line)
    if (line === '  ...') this.#isFailing = false
    return isShown
  }

  /** Number of tests that have finished so far. */
  get ended(): number {
    return this.#counted.passed + this.#counted.failed + this.#counted.skipped
  }

  /** The totals of a run with this exit code. A run that was aborted or had no tests is one additional failure. */
  totals(exitCode: number): Totals {
    const isWhole = this.#stated.has('tests') && this.#stated.has('fail')
    if (!isWhole) return { ...this.#counted, failed: this.#counted.failed + 1 }
    const failed = this.#stated.get('fail') ?? 0
    const isUnexplained = failed === 0 && (exitCode !== 0 || this.#stated.get('tests') === 0)
    return { passed: this.#stated.get('pass') ?? 0, failed: isUnexplained ? 1 : failed, skipped: this.#stated.get('skip') ?? 0 }
  }
}

/** `12 passed, 0 failed`: a skipped test is neither. */
export const totalsLine = ({ passed, failed }: Totals): string => `${passed} passed, ${failed} failed`

/** `7 skipped: 4 (no python3), 3 (no curl)`, most frequent reason first; undefined if no test was skipped. */
export const skipsLine = (skips: ReadonlyMap<string, number>): string | undefined => {
  const reasons = [...skips].sort(([, one], [, other]) => other - one)
  const all = reasons.reduce((sum, [, count]) => sum + count, 0)
  return all === 0 ? undefined : `${all} skipped: ${reasons.map(([reason, count]) => `${count} (${reason})`).join(', ')}`
}
