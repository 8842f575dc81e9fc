import type { Duplex } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { maxOutputCharacters } from './messages.ts'

/** A run's result is JSON text inside JSON text: each of its characters may be escaped. */
export const maxLineCharacters = 2 * maxOutputCharacters + 1000

/**
 * Messages between the server and an extractor process: one line of JSON each, over a pipe. With Node's own channel, the process could
 * fill the server's memory with an endless line.
 */
export class Channel {
  readonly #pipe: Duplex
  readonly #parse: (line: string) => unknown
  readonly #listener: (message: unknown) => void
  readonly #decoder = new StringDecoder()
  #parts: string[] = []
  #length = 0

  /** `broken` is called for a line that is not JSON (`parse` throws) or too long, and when the pipe fails. Nothing is received after that. */
  constructor(pipe: Duplex, parse: (line: string) => unknown, listener: (message: unknown) => void, broken: (error: Error) => void) {
    this.#pipe = pipe
    this.#parse = parse
    this.#listener = listener
    pipe.on('error', broken)
    pipe.on('data', (bytes: Buffer) => {
      try {
        this.#take(this.#decoder.write(bytes))
      } catch (error) {
        pipe.destroy()
        broken(error instanceof Error ? error : new Error(String(error)))
      }
    })
  }

  send(message: object, sent?: () => void): void {
    if (this.#pipe.writable) this.#pipe.write(`${JSON.stringify(message)}\n`, sent)
    else sent?.()
  }

  /** A line may arrive in thousands of pieces: only new pieces are scanned. */
  #take(text: string): void {
    let from = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      const line = this.#parts.join('') + text.slice(from, end)
      this.#parts = []
      this.#length = 0
      from = end + 1
      this.#listener(this.#parse(line))
    }
    const rest = text.slice(from)
    this.#length += rest.length
    if (this.#length > maxLineCharacters) throw new Error(`A message is longer than ${maxLineCharacters} characters`)
    if (rest !== '') this.#parts.push(rest)
  }
}
