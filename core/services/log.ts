import pino, { type DestinationStream, type Logger } from 'pino'
import type { Log } from 'pounce/sdk'
import { redact, redactText } from './redact.ts'

/** A log that can create child logs with fixed fields. */
export interface KernelLog extends Log {
  /** A child log with these fields in every line. */
  with(fields: Readonly<Record<string, unknown>>): KernelLog
  /** A warning without redaction, for information that is only available in the log. */
  warnOpenly(message: string, fields: Readonly<Record<string, unknown>>): void
}

/** Levels, least important first. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

type Fields = Readonly<Record<string, unknown>>

class PinoLog implements KernelLog {
  readonly #pino: Logger

  constructor(logger: Logger) {
    this.#pino = logger
  }

  debug(message: string, fields?: Fields): void {
    if (this.#pino.isLevelEnabled('debug')) this.#pino.debug(redact(fields ?? {}), redactText(message))
  }

  info(message: string, fields?: Fields): void {
    if (this.#pino.isLevelEnabled('info')) this.#pino.info(redact(fields ?? {}), redactText(message))
  }

  warn(message: string, fields?: Fields): void {
    if (this.#pino.isLevelEnabled('warn')) this.#pino.warn(redact(fields ?? {}), redactText(message))
  }

  warnOpenly(message: string, fields: Fields): void {
    this.#pino.warn(fields, message)
  }

  error(message: string, fields?: Fields): void {
    if (this.#pino.isLevelEnabled('error')) this.#pino.error(redact(fields ?? {}), redactText(message))
  }

  with(fields: Fields): KernelLog {
    return new PinoLog(this.#pino.child(redact(fields) as Record<string, unknown>))
  }
}

/** JSON strings may contain characters that some readers treat as line ends or terminal control. */
const escaped = (line: string): string =>
  line.replace(/[\u007f-\u009f\u2028\u2029]/g, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

const maxUnwrittenBytes = 1 << 20

/**
 * A destination for lines, by file descriptor. Data that cannot be written, for instance on a full disk, is buffered until the next line, up to 1 MiB;
 * further lines are lost. Never throws: the server continues without a log, and there is no other place to report the error.
 */
export const logDestination = (descriptor: number): DestinationStream => {
  const destination = pino.destination({ dest: descriptor, sync: true, maxLength: maxUnwrittenBytes })
  return destination.on('error', () => undefined)
}

/**
 * The kernel's log: one JSON object per line, with secrets redacted.
 * `pretty` formats human-readable lines instead. `stream` is standard output by default.
 */
export const createLog = (options: {
  readonly level: LogLevel
  readonly stream?: DestinationStream
  readonly pretty?: (line: string) => string
}): KernelLog => {
  const { level, pretty } = options
  const stream = options.stream ?? logDestination(1)
  const destination: DestinationStream = { write: line => stream.write(pretty ? pretty(line) : escaped(line)) }
  const settings = {
    level,
    base: null,
    messageKey: 'message',
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
  }
  return new PinoLog(pino(settings, destination))
}
