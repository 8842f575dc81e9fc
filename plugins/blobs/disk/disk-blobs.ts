import { hash } from 'node:crypto'
import { access, constants, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { type BlobStore, type ByteRange, Clock, configPort, Installation, Invalid, Log, type StatusPart, s, wire } from 'pounce/sdk'
import { BufferStream } from 'pounce/sdk/kit'
import type { BlobEntry, BlobInfo, PutOptions } from 'pounce/sdk/store-kit'
import { parseKey } from './blob-key.ts'
import { checkRange } from './checked-stream.ts'
import { asProblem, type Disk, realDisk } from './disk.ts'
import type { FileWriter } from './file-writer.ts'
import { FreeSpace } from './free-space.ts'
import { type GrowingOptions, PrefixSnapshots } from './prefix-snapshots.ts'
import { SegmentBlobs, smallBytes } from './segment-blobs.ts'
import { SingleFileBlobs } from './single-file-blobs.ts'

export const config = s.Object({
  folder: s.Optional(s.String({ minLength: 1, description: 'Folder of the file contents. Default: `blobs` in the data folder' })),
})

const Config = configPort(config)

/** The storage folder. */
export const folderOf = ({ folder }: s.Static<typeof config>, { dataFolder }: Installation): string => folder ?? join(dataFolder, 'blobs')

/** Bytes of further removals are left to the sweep for unreferenced bytes. */
const maxRetained = 100_000

/** Bytes on a local disk: large ones a file each, small ones together in segments. See the README for the layout and its limits. */
export class DiskBlobs implements BlobStore {
  readonly #folder: string
  readonly #temporaryFolder: string
  readonly #clock: Clock
  readonly #space: FreeSpace
  readonly #big: SingleFileBlobs
  readonly #small: SegmentBlobs
  /** Keys whose removal waits for the end of a backup. */
  #retained: Set<string> | undefined
  /** Undefined where the file system has no hard links. */
  putGrowing?: NonNullable<BlobStore['putGrowing']>

  constructor(settings: s.Static<typeof config>, installation: Installation, clock: Clock, log: Log, disk: Disk = realDisk) {
    this.#folder = folderOf(settings, installation)
    this.#temporaryFolder = join(this.#folder, 'tmp')
    this.#clock = clock
    this.#space = new FreeSpace(disk, this.#folder)
    this.#big = new SingleFileBlobs(this.#folder, this.#temporaryFolder, disk, log)
    this.#small = new SegmentBlobs(join(this.#folder, 'segments'), this.#temporaryFolder, disk, log)
  }

  /** Creates the folders and deletes what an interrupted run left. */
  async start(): Promise<void> {
    await rm(this.#temporaryFolder, { recursive: true, force: true })
    await mkdir(this.#temporaryFolder, { recursive: true, mode: 0o700 })
    await this.#big.start()
    await this.#small.start()
    if (await this.#big.hasLinks()) this.putGrowing = (source, growth) => this.#put(source, {}, growth)
  }

  async health(): Promise<void> {
    await problems(access(this.#temporaryFolder, constants.R_OK | constants.W_OK))
  }

  async dispose(): Promise<void> {
    await this.#small.dispose()
  }

  put(source: Readable | Uint8Array, options: PutOptions = {}): Promise<BlobInfo> {
    return this.#put(source, options)
  }

  async #put(source: Readable | Uint8Array, options: PutOptions, growth?: GrowingOptions): Promise<BlobInfo> {
    const { signal } = options
    const stream = source instanceof Uint8Array ? undefined : source
    const abort = (): void => {
      stream?.destroy(signal?.reason)
    }
    signal?.addEventListener('abort', abort, { once: true })
    try {
      signal?.throwIfAborted()
      return await problems(this.#receive(stream ?? [source as Uint8Array], options, growth))
    } catch (error) {
      stream?.destroy()
      if (signal?.aborted) throw signal.reason
      throw error
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  async get(text: string, range?: ByteRange): Promise<Readable | undefined> {
    const key = parseKey(text)
    if (!key) return undefined
    if (key.in !== 'segment') return await problems(this.#big.open(key, range))
    const bytes = await problems(this.#small.read(key))
    if (!bytes) return undefined
    if (range) checkRange(range, key.sizeBytes)
    return new BufferStream(range ? bytes.subarray(range.start, range.end + 1) : bytes)
  }

  async stat(text: string): Promise<BlobInfo | undefined> {
    const key = parseKey(text)
    if (!key) return undefined
    const isThere = key.in !== 'segment' ? (await problems(this.#big.find(key))) !== undefined : await problems(this.#small.has(key))
    return isThere ? { key: text, sizeBytes: key.sizeBytes, sha256: key.sha256 } : undefined
  }

  async remove(text: string): Promise<void> {
    const key = parseKey(text)
    if (!key) return
    if (this.#retained) {
      if (this.#retained.size < maxRetained) this.#retained.add(text)
      return
    }
    await problems(key.in === 'segment' ? this.#small.remove(key) : this.#big.remove(key))
  }

  /** Delays removals until the returned function is called. If the process ends before that, the sweep for unreferenced bytes finds them. */
  retain(): () => Promise<void> {
    const retained = new Set<string>()
    this.#retained = retained
    return async () => {
      this.#retained = undefined
      for (const key of retained) await this.remove(key)
    }
  }

  async *list(): AsyncGenerator<BlobEntry> {
    try {
      yield* this.#big.list()
      yield* this.#small.list()
    } catch (error) {
      throw asProblem(error)
    }
  }

  async localPath(text: string): Promise<string | undefined> {
    const key = parseKey(text)
    return key?.in === 'file' ? await problems(this.#big.find(key)) : undefined
  }

  /** Reading a small blob is as fast as a stat. */
  async crc32(text: string): Promise<number | undefined> {
    const key = parseKey(text)
    return key?.in === 'file' ? await problems(this.#big.crc32(key)) : undefined
  }

  async #receive(source: Readable | readonly Uint8Array[], options: PutOptions, growth?: GrowingOptions): Promise<BlobInfo> {
    const buffers: Buffer[] = []
    let sizeBytes = 0
    let file: FileWriter | undefined
    let snapshots: PrefixSnapshots | undefined
    try {
      for await (const chunk of source as AsyncIterable<Uint8Array | string>) {
        const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
        sizeBytes += bytes.length
        if (sizeBytes > (options.sizeBytes ?? sizeBytes)) throw wrongSize(options, 'more')
        if (!file) buffers.push(bytes)
        if (!file && sizeBytes > smallBytes) {
          file = await this.#big.begin()
          if (growth) snapshots = new PrefixSnapshots(file, growth, kept => this.#big.keepBeginning(kept, this.#clock.now()))
          await this.#space.take(sizeBytes)
          for (const piece of buffers.splice(0)) await file.write(piece)
        } else if (file) {
          await this.#space.take(bytes.length)
          await file.write(bytes)
        }
        await snapshots?.grown()
      }
      if (sizeBytes < (options.sizeBytes ?? sizeBytes)) throw wrongSize(options, `only ${sizeBytes}`)
      await snapshots?.settled()
      return file ? await this.#keepBig(file, options) : await this.#keepSmall(Buffer.concat(buffers), options)
    } catch (error) {
      await snapshots?.settled().catch(() => undefined)
      await file?.discard()
      throw error
    }
  }

  async #keepBig(file: FileWriter, options: PutOptions): Promise<BlobInfo> {
    const written = await file.finish()
    checkSha256(written.sha256, options)
    options.signal?.throwIfAborted()
    return await this.#big.keep(file.path, written, this.#clock.now())
  }

  async #keepSmall(bytes: Buffer, options: PutOptions): Promise<BlobInfo> {
    const sha256 = hash('sha256', bytes)
    checkSha256(sha256, options)
    options.signal?.throwIfAborted()
    await this.#space.take(bytes.length)
    return await this.#small.put(bytes, sha256, this.#clock.now())
  }
}
wire(DiskBlobs, Config, Installation, Clock, Log)

async function problems<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw asProblem(error)
  }
}

const wrongSize = (options: PutOptions, got: string): Invalid => new Invalid(`Expected ${options.sizeBytes} bytes, but there were ${got}`)

function checkSha256(sha256: string, options: PutOptions): void {
  if (options.sha256 !== undefined && options.sha256.toLowerCase() !== sha256) {
    throw new Invalid(`The bytes have the SHA-256 ${sha256}, not ${options.sha256} as announced`)
  }
}

/** The storage location, for the status page. */
export class DiskStatus implements StatusPart {
  readonly name = 'storage'
  readonly publicDetails = { location: 'disk' }
  readonly details: { readonly path: string }

  constructor(settings: s.Static<typeof config>, installation: Installation) {
    this.details = { path: folderOf(settings, installation) }
  }

  async check(): Promise<undefined> {
    await access(this.details.path, constants.R_OK | constants.W_OK)
  }
}
wire(DiskStatus, Config, Installation)
