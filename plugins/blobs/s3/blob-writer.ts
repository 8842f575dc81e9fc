import { createHash, type Hash, hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { type Clock, Invalid, type Log, TooLarge, Unavailable } from 'pounce/sdk'
import type { BlobInfo, PutOptions } from 'pounce/sdk/store-kit'
import type { BucketObjects } from './bucket-objects.ts'
import { newKey, type ParsedKey, parseKey, partBytes, sumsNameOf } from './layout.ts'
import type { MultipartUploads, PendingUpload, SentPart } from './multipart-uploads.ts'
import { encodeSumsFile } from './object-checksums.ts'
import { MemoryBudget, PartBuffer } from './part-buffer.ts'
import { encodeSums, S3BlockChecksums } from './s3-block-checksums.ts'

/** The body of one request, reopened for each attempt. */
export interface RequestBody {
  readonly sizeBytes: number
  /** Hex. */
  readonly sha256: string
  /** Calls `moved` whenever some of it was sent. */
  open(moved: () => void): Readable
}

/** A digest in S3's encoding. */
export const asBase64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64')

interface Sending {
  readonly middlewareStack: {
    add(
      middleware: (next: (args: never) => Promise<never>) => (args: { readonly request: unknown }) => Promise<never>,
      options: { readonly step: 'build' },
    ): void
  }
}

/** Signs the request together with the digest of its body, which the SDK cannot compute for a stream. */
export function signDigest<C>(command: C, sha256: string): C {
  const { middlewareStack } = command as C & Sending
  middlewareStack.add(
    next => args => {
      const { headers } = args.request as { readonly headers: Record<string, string> }
      headers['x-amz-content-sha256'] = sha256
      return next(args as never)
    },
    { step: 'build' },
  )
  return command
}

/** A body that is in memory anyway. */
export const bytesPayload = (bytes: Buffer): RequestBody => ({
  sizeBytes: bytes.length,
  sha256: hash('sha256', bytes),
  open(moved) {
    return Readable.from(
      (function* () {
        moved()
        yield bytes
      })(),
      { objectMode: false },
    )
  },
})

/** What is known when all bytes have been received. */
interface Received {
  readonly sizeBytes: number
  /** Hex. */
  readonly sha256: string
  readonly sums: Uint32Array
  /** The last part, not yet sent; the only one of a small blob. */
  readonly lastPart: PartBuffer
}

/** Dependencies of receiving. */
interface Receiving {
  newPart(): PartBuffer
  /** Called with a full part when more bytes follow. */
  send(part: PartBuffer): Promise<void>
}

/** Splits a stream into parts, and computes the digest of the whole and the checksum of each block. Compares them with the expected values. */
async function receive(
  source: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array>,
  options: PutOptions,
  { newPart, send }: Receiving,
): Promise<Received> {
  const whole = createHash('sha256')
  const sums = new S3BlockChecksums()
  let sizeBytes = 0
  let number = 1
  let part = newPart()
  try {
    for await (const chunk of source as AsyncIterable<Uint8Array | string>) {
      let rest = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      sizeBytes += rest.length
      if (sizeBytes > (options.sizeBytes ?? sizeBytes)) throw wrongSize(options, 'more')
      whole.update(rest)
      sums.update(rest)
      while (rest.length > 0) {
        if (part.sizeBytes === lengthOf(number)) {
          const full = part
          part = newPart()
          number += 1
          await send(full)
        }
        const piece = rest.subarray(0, lengthOf(number) - part.sizeBytes)
        await part.add(piece)
        rest = rest.subarray(piece.length)
      }
    }
    if (sizeBytes < (options.sizeBytes ?? sizeBytes)) throw wrongSize(options, `only ${sizeBytes}`)
    return { sizeBytes, sha256: digestOf(whole, options), sums: sums.finish(), lastPart: part }
  } catch (error) {
    await part.dispose()
    throw error
  }
}

function lengthOf(number: number): number {
  const length = partBytes(number)
  if (length === undefined) throw new TooLarge('The file is larger than the maximum size of an S3 object')
  return length
}

const wrongSize = (options: PutOptions, got: string): Invalid => new Invalid(`Expected ${options.sizeBytes} bytes, but there were ${got}`)

function digestOf(hash: Hash, { sha256: announced }: PutOptions): string {
  const sha256 = hash.digest('hex')
  if (announced !== undefined && announced.toLowerCase() !== sha256)
    throw new Invalid(`The bytes have the SHA-256 ${sha256}, not ${announced} as announced`)
  return sha256
}

/** An object that is uploaded in parts: the next part may be filled while one is being sent. */
class MultipartPut {
  readonly #uploads: MultipartUploads
  readonly #upload: PendingUpload
  readonly #failed: (error: unknown) => void
  readonly #controller = new AbortController()
  readonly #parts: SentPart[] = []
  #sending: Promise<void> = Promise.resolve()
  #number = 0

  /** `failed` is called at once when a part could not be sent, so that the source is no longer read. */
  constructor(uploads: MultipartUploads, upload: PendingUpload, failed: (error: unknown) => void) {
    this.#uploads = uploads
    this.#upload = upload
    this.#failed = failed
  }

  /** Waits for the previous part, then starts to send this one and disposes of it when the server has it. */
  async send(part: PartBuffer): Promise<void> {
    try {
      await this.#sending
    } catch (error) {
      await part.dispose()
      throw error
    }
    this.#number += 1
    this.#sending = this.#send(part, this.#number)
    this.#sending.catch(this.#failed)
  }

  /** Waits until all parts have been sent. */
  async settle(): Promise<void> {
    await this.#sending
  }

  /** Completes the upload. */
  async complete(sizeBytes: number, signal?: AbortSignal): Promise<void> {
    await this.#uploads.complete(this.#upload, this.#parts, sizeBytes, signal)
  }

  /** Stops sending and aborts the upload on the server. */
  async abort(): Promise<void> {
    this.#controller.abort(new Error('the upload was aborted'))
    await this.#sending.catch(() => undefined)
    await this.#uploads.abort(this.#upload)
  }

  async #send(part: PartBuffer, number: number): Promise<void> {
    try {
      this.#parts.push(await this.#uploads.send(this.#upload, number, part, this.#controller.signal))
    } finally {
      await part.dispose()
    }
  }
}

/** Memory limit of all uploads together; further parts are kept in files. */
const budgetBytes = 96 * 1024 * 1024

/** Dependencies of the writer. */
export interface WriterParts {
  readonly objects: BucketObjects
  readonly uploads: MultipartUploads
  /** For parts that do not fit in memory. */
  readonly folder: string
  readonly clock: Clock
  readonly log: Log
}

/** A put in several parts, once there is more than one. */
interface Building {
  readonly key: string
  readonly multipart: MultipartPut
}

type Source = Readable | Uint8Array

/** Stores streams: a short one as a single object, a longer one in parts, with a separate object for its checksums. */
export class BlobWriter {
  readonly #parts: WriterParts
  readonly #budget = new MemoryBudget(budgetBytes)
  readonly #cleaning = new Set<Promise<void>>()

  constructor(parts: WriterParts) {
    this.#parts = parts
  }

  async put(source: Source, options: PutOptions): Promise<BlobInfo> {
    const { signal } = options
    const stream = source instanceof Uint8Array ? undefined : source
    const abort = (): void => {
      stream?.destroy(signal?.reason)
    }
    signal?.addEventListener('abort', abort, { once: true })
    try {
      signal?.throwIfAborted()
      return await this.#store(source, stream, options)
    } catch (error) {
      stream?.destroy()
      if (signal?.aborted) throw signal.reason
      throw error
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  /** Waits for pending cleanup. */
  async settle(): Promise<void> {
    await Promise.all(this.#cleaning)
  }

  async #store(source: Source, stream: Readable | undefined, options: PutOptions): Promise<BlobInfo> {
    let building: Building | undefined
    try {
      const received = await receive(source instanceof Uint8Array ? [source] : source, options, {
        newPart: () => new PartBuffer(this.#budget, this.#parts.folder),
        send: async part => {
          building ??= await this.#begin(part, stream, options.signal)
          await building.multipart.send(part)
        },
      })
      return building ? await this.#finish(building, received, options) : await this.#putWhole(received, options)
    } catch (error) {
      const begun = building
      if (begun) await this.#clear(error, () => this.#discard(begun))
      throw error
    }
  }

  async #begin(part: PartBuffer, stream: Readable | undefined, signal?: AbortSignal): Promise<Building> {
    const key = newKey('p', this.#parts.clock.now())
    try {
      const upload = await this.#parts.uploads.begin(key, signal)
      const failed = (error: unknown): void => {
        stream?.destroy(error instanceof Error ? error : undefined)
      }
      return { key, multipart: new MultipartPut(this.#parts.uploads, upload, failed) }
    } catch (error) {
      await part.dispose()
      throw error
    }
  }

  async #putWhole({ sizeBytes, sha256, sums, lastPart }: Received, { signal }: PutOptions): Promise<BlobInfo> {
    const key = newKey('o', this.#parts.clock.now())
    try {
      signal?.throwIfAborted()
      await this.#parts.objects.put(key, lastPart, { sha256, sums: encodeSums(sums).toString('base64') }, signal)
      return { key, sizeBytes, sha256 }
    } catch (error) {
      // the server may have stored it and only its answer been lost
      await this.#clear(error, () => this.#parts.objects.remove(key))
      throw error
    } finally {
      await lastPart.dispose()
    }
  }

  /** The checksums are stored before the object, so that every visible object is readable. */
  async #finish({ key, multipart }: Building, received: Received, { signal }: PutOptions): Promise<BlobInfo> {
    const { sizeBytes, sha256, sums, lastPart } = received
    await multipart.send(lastPart)
    await multipart.settle()
    await this.#parts.objects.put(sumsNameOf(parsed(key)), bytesPayload(encodeSumsFile({ sizeBytes, sha256 }, sums)), {}, signal)
    signal?.throwIfAborted()
    try {
      await multipart.complete(sizeBytes, signal)
    } catch (error) {
      signal?.throwIfAborted()
      const existing = await this.#parts.objects.head(key).catch(() => undefined)
      if (existing?.totalBytes !== sizeBytes) throw error
    }
    return { key, sizeBytes, sha256 }
  }

  async #discard({ key, multipart }: Building): Promise<void> {
    await multipart.abort()
    await this.#parts.objects.remove(key)
    await this.#parts.objects.remove(sumsNameOf(parsed(key)))
  }

  /** Not awaited while the server is unavailable: the sweeps of abandoned uploads and of orphans delete what remains. */
  async #clear(failure: unknown, work: () => Promise<void>): Promise<void> {
    const cleared = work().catch((error: unknown) => {
      this.#parts.log.info('Failed to clean up an upload in the bucket; a sweep will delete it', { error })
    })
    this.#cleaning.add(cleared)
    const done = cleared.finally(() => this.#cleaning.delete(cleared))
    if (!(failure instanceof Unavailable)) await done
  }
}

const parsed = (key: string): ParsedKey => parseKey(key) as ParsedKey
