import { type Log, RawJson } from 'pounce/sdk'
import type { Exchange } from './exchange.ts'
import type { AnyReply } from './replier.ts'
import { drained, type Sender } from './sender.ts'

/** Pieces of a list are sent when this many characters have come together. */
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
    const start = (): void => {
      if (!res.headersSent)
        this.#sender.head(exchange, status, { 'content-type': 'application/json', 'cache-control': 'private, no-cache', ...headers })
    }
    try {
      let piece = '['
      let isFirst = true
      for await (const row of body as AsyncIterable<unknown>) {
        piece += (isFirst ? '' : ',') + (row instanceof RawJson ? row.text : JSON.stringify(row))
        isFirst = false
        if (piece.length < pieceLength) continue
        if (res.destroyed || exchange.isHead) break
        start()
        if (!res.write(piece)) await drained(res)
        piece = ''
      }
      if (res.destroyed) return
      start()
      res.end(exchange.isHead ? undefined : `${piece}]`)
    } catch (error) {
      if (!res.headersSent) throw error
      this.#log.error('a list broke off', { requestId: exchange.id, path: exchange.line.path, error })
      res.destroy()
    }
  }
}
