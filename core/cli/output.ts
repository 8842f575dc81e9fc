import { visible } from './pretty-log.ts'

/** The output streams of a command. */
export interface Output {
  out(text: string): void
  err(text: string): void
  /** True if standard error is a terminal, so that a line can be overwritten. */
  readonly isTerminal: boolean
  /** The width of the terminal of standard output; undefined for a file or pipe. */
  readonly columns?: number
}

/**
 * Ignores the error when a reader such as `head` closes the pipe: the remaining output is discarded, and the command ends normally. Other errors, such as
 * of a full disk, end the command; the server logs them and continues.
 */
export const surviveClosedPipes = (): void => {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') return
      if (process.listenerCount('uncaughtException') > 0) throw error
      process.stderr.write(`The output is not writable: ${error.message}\n`)
      process.exit(1)
    })
}

/** The streams of this process. */
export const standardOutput: Output = {
  out: text => void process.stdout.write(text),
  err: text => void process.stderr.write(text),
  isTerminal: process.stderr.isTTY === true,
  ...(process.stdout.isTTY ? { columns: process.stdout.columns } : {}),
}

type Row = Readonly<Record<string, unknown>>

const cell = (value: unknown): string => {
  if (value === undefined || value === null) return ''
  if (Array.isArray(value)) return value.map(cell).join(', ')
  if (value instanceof Date) return value.toISOString()
  return visible(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

/** The line truncated to the width of the terminal. */
const fitting = (line: string, columns: number | undefined): string =>
  columns === undefined || line.length <= columns ? line : `${line.slice(0, Math.max(1, columns - 1))}…`

const table = (rows: readonly Row[], width: number | undefined): string => {
  const columns = [...new Set(rows.flatMap(row => Object.keys(row)))]
  const lines = [columns, ...rows.map(row => columns.map(column => cell(row[column])))]
  const widths = columns.map((_, at) => Math.max(...lines.map(line => line[at]?.length ?? 0)))
  return lines
    .map(
      line =>
        `${fitting(
          line
            .map((text, at) => text.padEnd(widths[at] ?? 0))
            .join('  ')
            .trimEnd(),
          width,
        )}\n`,
    )
    .join('')
}

const details = (one: Row): string => {
  const width = Math.max(0, ...Object.keys(one).map(key => key.length))
  return Object.entries(one)
    .map(([key, value]) => `${key.padEnd(width)}  ${cell(value)}\n`)
    .join('')
}

/** A result as text: a table for an array, limited to the terminal width; lines for an object; or JSON. */
export const formatted = (result: unknown, asJson: boolean, columns?: number): string => {
  if (asJson) return `${JSON.stringify(result, null, 2)}\n`
  if (typeof result === 'string') return `${result}\n`
  if (Array.isArray(result)) return result.length === 0 ? 'nothing\n' : table(result as readonly Row[], columns)
  return details(result as Row)
}

const quietMs = 3_000

/** Shows the progress of a long command: one updated line on a terminal, otherwise a line every few seconds. Ends with `end`. */
export const progressOn = ({ err, isTerminal }: Output): { readonly report: (message: string) => void; readonly end: () => void } => {
  let last = Number.NEGATIVE_INFINITY
  let isOpen = false
  return {
    report: message => {
      const now = performance.now()
      if (isTerminal) {
        err(`\r\x1b[2K${visible(message)}`)
        isOpen = true
      } else if (now - last >= quietMs) {
        last = now
        err(`${visible(message)}\n`)
      }
    },
    end: () => {
      if (isOpen) err('\r\x1b[2K')
      isOpen = false
    },
  }
}
