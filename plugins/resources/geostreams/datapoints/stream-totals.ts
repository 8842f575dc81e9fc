import type { Draft } from './read-point.ts'

/** What one stream had since it was last told. */
export class StreamTotals {
  count = 0
  fromMs = Number.POSITIVE_INFINITY
  toMs = Number.NEGATIVE_INFINITY
  readonly names = new Set<string>()
  /** Places of the points among what was sent. */
  readonly lines: number[] = []

  add({ startMs, properties }: Draft, line: number): void {
    this.count += 1
    this.fromMs = Math.min(this.fromMs, startMs)
    this.toMs = Math.max(this.toMs, startMs)
    for (const name of Object.keys(properties)) this.names.add(name)
    this.lines.push(line)
  }
}
