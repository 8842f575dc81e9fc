import { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { CorruptContent, Unavailable } from 'pounce/sdk'
import { blockAt } from './layout.ts'
import type { SumsSource } from './object-checksums.ts'
import { usualIdleMs } from './retry.ts'
import { asProblem } from './s3-problems.ts'

/** What a stream reads, and the expected checksums. */
export interface CheckedSource {
  readonly key: string
  /** The object from the beginning of the block that contains `start`. */
  readonly body: Readable
  /** Reopens the object at this offset, when the connection broke. */
  reopen(begin: number): Promise<Readable>
  readonly sums: SumsSource
  /** Length of the whole. */
  readonly totalBytes: number
  /** First requested byte. */
  readonly start: number
  /** Last requested byte. */
  readonly end: number
}

const maxFailures = 3

/** Bytes of an object in whole blocks, each verified before any of it is passed on. Resumes when a connection breaks. */
export class CheckedBody extends Readable {
  readonly #source: CheckedSource
  readonly #idleMs: number
  #body: Readable
  #chunks: AsyncIterator<Uint8Array>
  #rest: Uint8Array = Buffer.alloc(0)
  #position: number
  /** Since the last complete block. */
  #failures = 0

  constructor(source: CheckedSource, idleMs = usualIdleMs) {
    super({ highWaterMark: 64 * 1024 })
    this.#source = source
    this.#idleMs = idleMs
    this.#position = blockAt(source.start).begin
    this.#body = source.body
    this.#chunks = this.#body[Symbol.asyncIterator]()
    // a connection may break while nothing is being read; the next read reports it
    this.#body.on('error', () => undefined)
  }

  override _read(): void {
    this.#next().then(
      block => this.push(block),
      error => this.destroy(asProblem(error) as Error),
    )
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#body.destroy()
    done(error)
  }

  async #next(): Promise<Buffer | null> {
    const { start, end, totalBytes, sums, key } = this.#source
    if (this.#position > end) return null
    const block = blockAt(this.#position)
    const bytes = await this.#take(Math.min(block.end, totalBytes) - block.begin)
    if (crc32(bytes) !== (await sums.sumOf(block.index))) throw new CorruptContent(undefined, { details: { key, offset: block.begin } })
    this.#failures = 0
    this.#position = block.end
    return bytes.subarray(Math.max(start - block.begin, 0), Math.min(end + 1 - block.begin, bytes.length))
  }

  async #take(length: number): Promise<Buffer> {
    for (;;) {
      try {
        return await this.#fill(Buffer.allocUnsafeSlow(length))
      } catch (error) {
        this.#failures += 1
        if (this.destroyed || this.#failures > maxFailures) throw error
        this.#body.destroy()
        await this.#reopen()
      }
    }
  }

  async #reopen(): Promise<void> {
    const body = await this.#source.reopen(this.#position)
    body.on('error', () => undefined)
    this.#body = body
    this.#chunks = body[Symbol.asyncIterator]()
    this.#rest = Buffer.alloc(0)
    if (this.destroyed) body.destroy()
  }

  async #fill(bytes: Buffer): Promise<Buffer> {
    for (let filled = 0; filled < bytes.length; ) {
      if (this.#rest.length === 0) this.#rest = await this.#chunk()
      const piece = this.#rest.subarray(0, bytes.length - filled)
      bytes.set(piece, filled)
      filled += piece.length
      this.#rest = this.#rest.subarray(piece.length)
    }
    return bytes
  }

  async #chunk(): Promise<Uint8Array> {
    const silent = (): void => {
      this.#body.destroy(new Unavailable(`No response from the blob store for ${this.#idleMs / 1000} s`))
    }
    const timer = setTimeout(silent, this.#idleMs)
    try {
      const { done, value } = await this.#chunks.next()
      if (done) throw new Unavailable('The blob store ended the response early')
      return value
    } finally {
      clearTimeout(timer)
    }
  }
}
