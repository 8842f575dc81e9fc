import { Readable } from 'node:stream'
import { type ByteBody, Invalid, type SentBytes, Unsupported, youngGarbage } from 'pounce/sdk'
import type { Exchange } from './exchange.ts'
import { parseHeader } from './media-type.ts'

/** True of a body that a route declares as plain bytes. */
export const isByteBody = (body: unknown): body is ByteBody => typeof body === 'object' && body !== null && 'byteBody' in body

/** The bytes of a request's body as a handler gets them. Throws `Unsupported` for another media type than the declared one. */
export class SentBody implements SentBytes {
  readonly sizeBytes: number | undefined
  readonly isPresent: boolean
  readonly #exchange: Exchange
  #stream: Readable | undefined

  constructor(exchange: Exchange, { contentType, isOptional }: ByteBody) {
    const { headers } = exchange.req
    const length = headers['content-length']
    const isChunked = headers['transfer-encoding'] !== undefined
    this.isPresent = isChunked || (length !== undefined && length !== '0')
    this.sizeBytes = isChunked ? undefined : Number(length ?? 0)
    this.#exchange = exchange
    const coding = headers['content-encoding']
    if (coding !== undefined && coding !== 'identity')
      throw new Unsupported('Compressed bodies are not read: send it without Content-Encoding')
    if (contentType !== undefined && (this.isPresent || !isOptional) && parseHeader(headers['content-type'] ?? '').type !== contentType) {
      throw new Unsupported(`The body must have the Content-Type ${contentType}`)
    }
  }

  open(): Readable {
    this.#stream ??= new BodyStream(this.#exchange)
    return this.#stream
  }
}

const ignore = (): void => undefined

/**
 * A handler never sees Node's own stream: whoever destroys that one takes the connection with it, and the answer. What is left of the body
 * when this one is destroyed is for whoever ends the answer.
 */
class BodyStream extends Readable {
  readonly #exchange: Exchange

  constructor(exchange: Exchange) {
    super({ highWaterMark: 64 * 1024 })
    this.#exchange = exchange
    const { req } = exchange
    // A fault may come before anybody listens; who reads gets it all the same.
    this.on('error', ignore)
    const cut = (): void => {
      if (!req.complete) this.destroy(new Invalid('The body ended before all of it had come'))
    }
    req.on('data', this.#take)
    req.on('end', this.#end)
    req.on('error', cut)
    req.on('close', cut)
    if (req.destroyed) cut()
    else exchange.invite()
  }

  readonly #take = (chunk: Buffer): void => {
    youngGarbage.passed(chunk.length)
    if (!this.push(chunk)) this.#exchange.req.pause()
  }

  readonly #end = (): void => {
    this.push(null)
  }

  override _read(): void {
    this.#exchange.req.resume()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    const { req } = this.#exchange
    req.off('data', this.#take)
    req.off('end', this.#end)
    req.pause()
    callback(error)
  }
}
