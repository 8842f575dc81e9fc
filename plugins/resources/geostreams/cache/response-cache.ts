import type { Readable } from 'node:stream'
import { BlobStore, type Bytes, type Caller, Clock, type Json, Log, NotFound, Policy, streamed, wire } from 'pounce/sdk'
import { seenBy } from '../listing.ts'
import { type AskedQuestion, answerKey, normalForm } from './answer-key.ts'
import type { Answer } from './collection.ts'
import { StoredResponses } from './stored-responses.ts'
import { StreamVersions } from './stream-versions.ts'

/** A question about readings whose answer may be kept. */
export interface Question extends AskedQuestion {
  readonly caller: Caller
  /** From `Streams.chosen`. */
  readonly streams: readonly number[] | undefined
  /** Nothing is kept of a question that only wants the head. */
  readonly isHead: boolean
}

/** The number of streams that a record names one by one. */
const mostNamed = 200
/** Questions whose answers were too long, remembered so that they are not written twice each time. */
const mostRefused = 1000

class TooLong extends Error {}

/**
 * Keeps answers that are the same for everybody, and gives them again while no stream or sensor they came from has changed. Callers who see only
 * some streams get answers of their own, which are never kept.
 */
export class ResponseCache {
  #kept: StoredResponses
  #state: StreamVersions
  #blobs: BlobStore
  #policy: Policy
  #clock: Clock
  #log: Log
  #making = new Map<string, Promise<Answer | undefined>>()
  #refused = new Set<string>()

  constructor(kept: StoredResponses, state: StreamVersions, blobs: BlobStore, policy: Policy, clock: Clock, log: Log) {
    this.#kept = kept
    this.#state = state
    this.#blobs = blobs
    this.#policy = policy
    this.#clock = clock
    this.#log = log
  }

  /** Whether the caller may see every answer that is kept. */
  isFor(caller: Caller): boolean {
    return seenBy(this.#policy, caller) === 'all'
  }

  /**
   * The answer to a question: one that is kept, or else what `produce` makes, which is kept if it is not too long. `produce` may be called more than
   * once, and what it gives depends on the question alone. Those who ask the same at the same time share one.
   */
  async answer(question: Question, produce: () => Bytes): Promise<Bytes> {
    if (this.#kept.maxBytes === 0 || question.isHead || !this.isFor(question.caller)) return produce()
    const key = answerKey(question)
    if (this.#refused.has(key)) return produce()
    const state = await this.#state.of(question.streams)
    if (state === undefined) return produce()
    const known = await this.#kept.get(key)
    const answer = known?.state === state ? known : await this.#once(`${key} ${state}`, () => this.#make(key, state, question, produce()))
    return answer ? this.show(answer, produce) : produce()
  }

  /** The bytes of an answer; `produce` stands in for those that went meanwhile. */
  show({ blob, contentType, filename }: Answer, produce?: () => Bytes): Bytes {
    const open = async (): Promise<Readable> => {
      const stream = (await this.#blobs.get(blob)) ?? produce?.().open()
      if (!stream) throw new NotFound('cached answer')
      return stream
    }
    // Without its length it goes out in gzip to whoever reads that.
    return { open, contentType, ...(filename === null ? { inline: true } : { filename }) }
  }

  #once(name: string, make: () => Promise<Answer | undefined>): Promise<Answer | undefined> {
    const under = this.#making.get(name) ?? make().finally(() => this.#making.delete(name))
    this.#making.set(name, under)
    return under
  }

  /** Undefined when it cannot be kept. Rejects when it cannot be made. */
  async #make(key: string, state: string, question: Question, { open, contentType, filename }: Bytes): Promise<Answer | undefined> {
    const fault: { error?: unknown } = {}
    const created = this.#clock.now().toISOString()
    const { streams } = question
    try {
      const { key: blob, sizeBytes } = await this.#blobs.put(streamed(limited(await open(), this.#kept.maxBytes, fault)))
      const named = streams && streams.length <= mostNamed ? streams : null
      const query = { route: question.route, ...normalForm(question) } as { readonly [name: string]: Json }
      const record = { blob, sizeBytes, contentType, filename: filename ?? null, query, created, state, streams: named }
      try {
        return await this.#kept.keep(key, record)
      } catch (error) {
        await this.#kept.dropBytes(blob)
        throw error
      }
    } catch (error) {
      if (fault.error !== undefined) throw fault.error
      if (!(error instanceof TooLong)) this.#log.warn('failed to cache an answer', { error })
      else this.#refuse(key)
      return undefined
    }
  }

  #refuse(key: string): void {
    if (this.#refused.size >= mostRefused) this.#refused.clear()
    this.#refused.add(key)
  }
}
wire(ResponseCache, StoredResponses, StreamVersions, BlobStore, Policy, Clock, Log)

/** The same bytes, up to a limit; a source that fails leaves word. */
async function* limited(source: Readable, maxBytes: number, fault: { error?: unknown }): AsyncGenerator<Buffer, void, undefined> {
  let sizeBytes = 0
  const pieces = source[Symbol.asyncIterator]()
  for (;;) {
    const { done, value } = await pieces.next().catch((error: unknown) => {
      fault.error = error
      throw error
    })
    if (done) return
    const piece = Buffer.from(value as string | Buffer)
    sizeBytes += piece.length
    if (sizeBytes > maxBytes) {
      source.destroy()
      throw new TooLong(`more than ${maxBytes} bytes`)
    }
    yield piece
  }
}
