import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { StartupError } from '../../kernel/startup-error.ts'

/** Whether the user can be prompted. */
export const isInteractive = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true

const readAnswer = async (prompt: string, output: Writable): Promise<string> => {
  const lines = createInterface({ input: process.stdin, output, terminal: true })
  const { promise, reject } = Promise.withResolvers<never>()
  lines.once('SIGINT', () => reject(new StartupError('Cancelled')))
  lines.once('close', () => reject(new StartupError('Cancelled')))
  try {
    return await Promise.race([lines.question(prompt), promise])
  } finally {
    lines.close()
  }
}

/** Reads a line from the terminal. */
export const promptLine = (prompt: string): Promise<string> => readAnswer(prompt, process.stderr)

/** Reads a line from the terminal without showing it. */
export const promptSecret = async (prompt: string): Promise<string> => {
  process.stderr.write(prompt)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  try {
    return await readAnswer('', silent)
  } finally {
    process.stderr.write('\n')
  }
}

let lines: AsyncIterator<string> | undefined

/** The next line of standard input; empty after the last. An input that stays open does not keep the process running. */
export const inputLine = async (): Promise<string> => {
  lines ??= createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]()
  // Files have neither method.
  process.stdin.ref?.()
  const { value, done } = await lines.next()
  process.stdin.unref?.()
  return done ? '' : value
}
