/** What became of the tests of one run. */
export interface Totals {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

const result = /^(ok|not ok) \d+ - (.*)$/
const trailer = /^# (tests|pass|skip|fail) (\d+)$/

/**
 * Follows ava's TAP output line by line. The totals are those that ava prints at its end, not a count of lines: only ava
 * knows of tests that never came to run.
 */
export class TapTally {
  #counted = { passed: 0, failed: 0, skipped: 0 }
  #stated = new Map<string, number>()
  #isFailing = false

  /** Takes one line; true when a person should see it: failures with all that belongs to them, and skipped tests with their reason. */
  take(line: string): boolean {
    const test = result.exec(line)
    if (test) {
      const [, outcome, title = ''] = test
      const isSkipped = outcome === 'ok' && title.endsWith('# SKIP')
      this.#isFailing = outcome === 'not ok'
      this.#counted[this.#isFailing ? 'failed' : isSkipped ? 'skipped' : 'passed'] += 1
      return this.#isFailing || isSkipped
    }
    const total = trailer.exec(line)
    if (total) this.#stated.set(total[1] ?? '', Number(total[2]))
    if (total || /^(1\.\.\d+|TAP version \d+)?$/.test(line)) {
      this.#isFailing = false
      return false
    }
    const isShown = this.#isFailing || !line.startsWith('#')
    if (line === '  ...') this.#isFailing = false
    return isShown
  }

  /** Tests that have ended so far. */
  get ended(): number {
    return this.#counted.passed + this.#counted.failed + this.#counted.skipped
  }

  /** The totals of a run that ended with this exit code. A run that broke off, or tested nothing, counts as one more failure. */
  totals(exitCode: number): Totals {
    const isWhole = this.#stated.has('tests') && this.#stated.has('fail')
    if (!isWhole) return { ...this.#counted, failed: this.#counted.failed + 1 }
    const failed = this.#stated.get('fail') ?? 0
    const isUnexplained = failed === 0 && (exitCode !== 0 || this.#stated.get('tests') === 0)
    return { passed: this.#stated.get('pass') ?? 0, failed: isUnexplained ? 1 : failed, skipped: this.#stated.get('skip') ?? 0 }
  }
}

/** `12 passed, 0 failed`, and `, 1 skipped` where there are any. */
export const totalsLine = ({ passed, failed, skipped }: Totals): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
