import { styleText } from 'node:util'
import { messageOf } from '../../kernel/startup-error.ts'
import { visible } from '../pretty-log.ts'
import type { UserContext } from './command-context.ts'

/** The result of one file. */
export interface TransferResult {
  readonly path: string
  readonly state:
    | 'uploaded'
    | 'updated'
    | 'downloaded'
    | 'unchanged'
    | 'deleted'
    | 'failed'
    | 'would upload'
    | 'would update'
    | 'would download'
    | 'would delete'
  readonly id?: string
  readonly bytes?: number
  readonly sha256?: string
  readonly message?: string
}

const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']
const drawEveryMs = 100
const quietMs = 3_000
const speedOverMs = 10_000
const barWidth = 20
/** A file takes about as long as this many bytes more: small files are limited by requests, not by bytes. */
const bytesPerFile = 1_000_000

const inUnits = (bytes: number): string => {
  let value = bytes
  let unit = 0
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`
}

const inTime = (seconds: number): string => {
  const [minutes, rest] = [Math.floor(seconds / 60), Math.floor(seconds % 60)]
  const pad = (value: number): string => String(value).padStart(2, '0')
  return minutes < 60 ? `${minutes}:${pad(rest)}` : `${Math.floor(minutes / 60)}:${pad(minutes % 60)}:${pad(rest)}`
}

const colors: Readonly<Record<string, Parameters<typeof styleText>[0]>> = { failed: 'red', deleted: 'yellow', unchanged: 'gray' }

/** Shows the progress of a transfer, and writes a line for each file: text, or JSON with `--json`. */
export class TransferProgress {
  readonly #context: UserContext
  readonly #now: () => number
  readonly #begun: number
  readonly #counts = new Map<string, number>()
  #files = 0
  #doneFiles = 0
  #total = 0
  #done = 0
  #moved = 0
  #movedFiles = 0
  #drawnAt = Number.NEGATIVE_INFINITY
  #marks: { readonly at: number; readonly moved: number; readonly movedFiles: number }[] = []

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(context: UserContext, now = () => performance.now()) {
    this.#context = context
    this.#now = now
    this.#begun = now()
  }

  expect(files: number, bytes: number): void {
    this.#files += files
    this.#total += bytes
    this.#draw()
  }

  /** Counts bytes that need no transfer because they already exist. */
  skip(bytes: number): void {
    this.#done += bytes
    this.#draw()
  }

  /** Counts transferred bytes; negative if they have to be sent again. */
  move(bytes: number): void {
    this.#done += bytes
    if (bytes > 0) this.#moved += bytes
    this.#draw()
  }

  note(message: string): void {
    if (this.#isShown()) this.#context.progress.report(message)
  }

  warn(message: string): void {
    this.#context.progress.end()
    this.#context.output.err(`${visible(message)}\n`)
  }

  /** Reports a finished file. */
  result(result: TransferResult, isOfTotal = true): void {
    if (isOfTotal) {
      this.#doneFiles += 1
      if (result.state !== 'unchanged') this.#movedFiles += 1
    }
    this.#counts.set(result.state, (this.#counts.get(result.state) ?? 0) + 1)
    if (result.state === 'failed') this.#context.fail()
    const { output, asJson, progress } = this.#context
    if (asJson) output.out(`${JSON.stringify(result)}\n`)
    else if (result.state !== 'unchanged') {
      progress.end()
      const color = colors[result.state]
      const state = color === undefined || output.columns === undefined ? result.state : styleText(color, result.state)
      output.out(`${state}  ${visible(result.path)}${result.message === undefined ? '' : `: ${visible(result.message)}`}\n`)
    }
    this.#draw()
  }

  failure(path: string, error: unknown, isOfTotal = true): void {
    this.result({ path, state: 'failed', message: messageOf(error) }, isOfTotal)
  }

  /** Writes the summary: the number of files by result. */
  end(): void {
    const { output, asJson, progress } = this.#context
    progress.end()
    const seconds = (this.#now() - this.#begun) / 1000
    const counts = Object.fromEntries([...this.#counts].sort(([one], [other]) => (one < other ? -1 : 1)))
    if (asJson) output.out(`${JSON.stringify({ summary: counts, bytes: this.#moved, seconds: Math.round(seconds * 1000) / 1000 })}\n`)
    else {
      const parts = Object.entries(counts).map(([state, count]) => `${count} ${state}`)
      output.out(`${parts.length === 0 ? 'nothing to do' : parts.join(', ')}; ${inUnits(this.#moved)} in ${inTime(seconds)}\n`)
    }
  }

  #draw(): void {
    const now = this.#now()
    if (!this.#isShown() || now - this.#drawnAt < drawEveryMs) return
    this.#drawnAt = now
    this.#marks = [...this.#marks.filter(({ at }) => now - at < speedOverMs), { at: now, moved: this.#moved, movedFiles: this.#movedFiles }]
    // A wrapped line cannot be overwritten.
    this.#context.progress.report(this.#line(now).slice(0, (process.stderr.columns ?? 200) - 1))
  }

  /** In a log file, progress is only useful for long transfers. */
  #isShown(): boolean {
    const { asJson, output } = this.#context
    return !asJson && (output.isTerminal || this.#now() - this.#begun > quietMs)
  }

  #line(now: number): string {
    const share = this.#total === 0 ? 0 : Math.min(this.#done / this.#total, 1)
    const bar = '█'.repeat(Math.round(share * barWidth)).padEnd(barWidth, '░')
    return `${String(Math.floor(share * 100)).padStart(3)} % ${bar}  ${inUnits(this.#done)} of ${inUnits(this.#total)}${this.#rate(now)}  ${this.#doneFiles} of ${this.#files} files`
  }

  /** The speed of the last seconds, and the remaining time. */
  #rate(now: number): string {
    const [first] = this.#marks
    const seconds = first ? (now - first.at) / 1000 : 0
    if (!first || seconds <= 0.5) return ''
    const moved = this.#moved - first.moved
    const work = (moved + (this.#movedFiles - first.movedFiles) * bytesPerFile) / seconds
    const rest = this.#total - this.#done + (this.#files - this.#doneFiles) * bytesPerFile
    return `  ${inUnits(Math.round(moved / seconds))}/s${work > 0 ? `  ${inTime(rest / work)} left` : ''}`
  }
}
