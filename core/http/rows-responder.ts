import type { Writable } from 'node:stream'
import { type Log, RawJson } from 'pounce/sdk'
import { drained } from './compression.ts'
import type { Exchange } from './exchange.ts'
import type { AnyReply } from './replier.ts'
import type { Sender } from './sender.ts'

/** Pieces of a list are sent when this many characters have come together; a shorter list goes out whole. */
const pieceLength = 32 * 1024

/** Answers with a list that is written while its rows come. */
export class RowsResponder {
  readonly #sender: Sender
  readonly #log: Log

  constructor(sender: Sender, log: Log) {
    this.#sender = sender
    this.#log = log
  }

  /** Rejects only before the first piece is out; rows that fail later end the connection: nobody may take half a list for the whole. */
  async send(exchange: Exchange, { status, body, headers }: AnyReply): Promise<void> {
    const { res } = exchange
    const head: Record<string, string> = { 'content-type': 'application/json', 'cache-control': 'private, no-cache', ...headers }
    let out: Writable | undefined
    try {
      let piece = '['
      let isFirst = true
      for await (const row of body as AsyncIterable<unknown>) {
        piece += (isFirst ? '' : ',') + (row instanceof RawJson ? row.text : JSON.stringify(row))
        isFirst = false
        if (piece.length < pieceLength) continue
        if (res.destroyed) return
        out ??= this.#sender.begin(exchange, status, head, this.#sender.mayStreamGzip(exchange, head))
        if (exchange.isHead) break
        if (!out.write(piece)) await drained(out)
        piece = ''
      }
      if (res.destroyed) return
      if (!out) return await this.#sender.sendText(exchange, status, head, `${piece}]`)
      if (exchange.isHead) res.end()
      else out.end(`${piece}]`)
    } catch (error) {
      if (!res.headersSent) throw error
      this.#log.error('a list broke off', { requestId: exchange.id, path: exchange.line.path, error })
      res.destroy()
    }
  }
}
