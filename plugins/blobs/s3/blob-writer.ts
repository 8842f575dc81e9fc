import type { Readable } from 'node:stream'
import { type BlobFacts, type Clock, type Log, type PutOptions, Unavailable } from 'pounce/sdk'
import type { BucketObjects } from './bucket-objects.ts'
import { MemoryBudget } from './memory-budget.ts'
import { MultipartPut } from './multipart-put.ts'
import type { MultipartUploads } from './multipart-uploads.ts'
import { newKey, type ParsedKey, parseKey, sumsNameOf } from './object-names.ts'
import { PartBuffer } from './part-buffer.ts'
import { bytesPayload } from './payload.ts'
import { type Received, receive } from './receive.ts'
import { encodeSums } from './s3-block-checksums.ts'
import { encodeSumsFile } from './sums-file.ts'

/** What all uploads together hold in memory; the rest waits in files. */
const budgetBytes = 96 * 1024 * 1024

/** What the writer works with. */
export interface WriterParts {
  readonly objects: BucketObjects
  readonly uploads: MultipartUploads
  /** For parts that find no room in memory. */
  readonly folder: string
  readonly clock: Clock
  readonly log: Log
}

/** A put that is made of parts, once there is more than one. */
interface Building {
  readonly key: string
  readonly multipart: MultipartPut
}

type Source = Readable | Uint8Array

/** Stores streams: a short one as one object, a longer one in parts, with its checksums beside it. */
export class BlobWriter {
  readonly #parts: WriterParts
  readonly #budget = new MemoryBudget(budgetBytes)
  readonly #cleaning = new Set<Promise<void>>()

  constructor(parts: WriterParts) {
    this.#parts = parts
  }

  async put(source: Source, options: PutOptions): Promise<BlobFacts> {
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

  /** Waits for what is being cleared away. */
  async settle(): Promise<void> {
    await Promise.all(this.#cleaning)
  }

  async #store(source: Source, stream: Readable | undefined, options: PutOptions): Promise<BlobFacts> {
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

  async #putWhole({ sizeBytes, sha256, sums, lastPart }: Received, { signal }: PutOptions): Promise<BlobFacts> {
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

  /** The checksums are there before the object is, so that an object which can be seen can be read. */
  async #finish({ key, multipart }: Building, received: Received, { signal }: PutOptions): Promise<BlobFacts> {
    const { sizeBytes, sha256, sums, lastPart } = received
    await multipart.send(lastPart)
    await multipart.settle()
    await this.#parts.objects.put(sumsNameOf(parsed(key)), bytesPayload(encodeSumsFile({ sizeBytes, sha256 }, sums)), {}, signal)
    signal?.throwIfAborted()
    try {
      await multipart.complete(sizeBytes, signal)
    } catch (error) {
      signal?.throwIfAborted()
      const made = await this.#parts.objects.head(key).catch(() => undefined)
      if (made?.totalBytes !== sizeBytes) throw error
    }
    return { key, sizeBytes, sha256 }
  }

  async #discard({ key, multipart }: Building): Promise<void> {
    await multipart.abort()
    await this.#parts.objects.remove(key)
    await this.#parts.objects.remove(sumsNameOf(parsed(key)))
  }

  /** Nobody waits for it while the server is unavailable: the sweep of abandoned uploads and that of orphans take what stays. */
  async #clear(failure: unknown, work: () => Promise<void>): Promise<void> {
    const cleared = work().catch((error: unknown) => {
      this.#parts.log.info('failed to clean up an upload in the bucket; a sweep will delete it', { error })
    })
    this.#cleaning.add(cleared)
    const done = cleared.finally(() => this.#cleaning.delete(cleared))
    if (!(failure instanceof Unavailable)) await done
  }
}

const parsed = (key: string): ParsedKey => parseKey(key) as ParsedKey
