import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import {
  type BlobStore,
  type ByteRange,
  Clock,
  CorruptContent,
  configPort,
  Installation,
  Invalid,
  NoSpace,
  Problem,
  s,
  Unavailable,
  wire,
} from 'pounce/sdk'
import type { BlobEntry, BlobInfo, PutOptions } from 'pounce/sdk/store-kit'

export const config = s.Object({
  folder: s.Optional(s.String({ minLength: 1, description: 'Folder of the files. Default: `blobs-gzip` in the data folder' })),
  level: s.Integer({ default: 6, minimum: 1, maximum: 9, description: 'Compression level: 1 is fast, 9 is small' }),
})
const Config = configPort(config)

const keyForm = /^([0-9a-z]+)-([0-9a-f]{24})-([0-9a-z]+)-([0-9a-f]{64})$/

/** Stores bytes as gzip files in one folder. The file name is the key and contains all properties: time, length and SHA-256. */
export class GzipBlobs implements BlobStore {
  readonly #folder: string
  readonly #level: number
  readonly #clock: Clock

  constructor({ folder, level }: s.Static<typeof config>, installation: Installation, clock: Clock) {
    this.#folder = folder ?? join(installation.dataFolder, 'blobs-gzip')
    this.#level = level
    this.#clock = clock
  }

  async start(): Promise<void> {
    await rm(this.#path('tmp'), { recursive: true, force: true })
    await mkdir(this.#path('tmp'), { recursive: true })
  }

  async put(source: Readable | Uint8Array, options: PutOptions = {}): Promise<BlobInfo> {
    const random = randomBytes(12).toString('hex')
    const temporary = this.#path('tmp', random)
    try {
      const { sizeBytes, sha256 } = await this.#write(source, temporary, options)
      const key = `${this.#clock.now().getTime().toString(36)}-${random}-${sizeBytes.toString(36)}-${sha256}`
      await rename(temporary, this.#path(key))
      await sync(this.#folder)
      return { key, sizeBytes, sha256 }
    } catch (error) {
      await rm(temporary, { force: true })
      throw options.signal?.aborted ? options.signal.reason : asProblem(error)
    }
  }

  async get(key: string, range?: ByteRange): Promise<Readable | undefined> {
    const info = await this.stat(key)
    if (!info) return undefined
    const { start, end } = range ?? { start: 0, end: info.sizeBytes - 1 }
    const isInside = Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && end < info.sizeBytes
    if (range && !isInside) throw new Invalid(`The range ${start}-${end} is not within ${info.sizeBytes} bytes`)
    return Readable.from(this.#unpacked(info, start, end), { objectMode: false, highWaterMark: 64 * 1024 })
  }

  async stat(key: string): Promise<BlobInfo | undefined> {
    const [, , , size, sha256] = keyForm.exec(key) ?? []
    if (!size || !sha256) return undefined
    try {
      await using _ = await open(this.#path(key), 'r')
      return { key, sizeBytes: Number.parseInt(size, 36), sha256 }
    } catch (error) {
      if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENAMETOOLONG') return undefined
      throw asProblem(error)
    }
  }

  async remove(key: string): Promise<void> {
    if (keyForm.test(key) && key.length <= 200) await rm(this.#path(key), { force: true })
  }

  async *list(): AsyncGenerator<BlobEntry> {
    for (const name of await readdir(this.#folder)) {
      const [key, time, , size] = keyForm.exec(name) ?? []
      if (key && time && size) yield { key, sizeBytes: Number.parseInt(size, 36), modified: new Date(Number.parseInt(time, 36)) }
    }
  }

  async #write(source: Readable | Uint8Array, path: string, options: PutOptions): Promise<{ sizeBytes: number; sha256: string }> {
    const hash = createHash('sha256')
    let sizeBytes = 0
    await pipeline(
      source instanceof Uint8Array ? Readable.from([source]) : source,
      async function* (pieces: AsyncIterable<Uint8Array>) {
        for await (const piece of pieces) {
          hash.update(piece)
          sizeBytes += piece.length
          yield piece
        }
      },
      createGzip({ level: this.#level }),
      createWriteStream(path, { flags: 'wx' }),
      options.signal ? { signal: options.signal } : {},
    )
    const sha256 = hash.digest('hex')
    if (sizeBytes !== (options.sizeBytes ?? sizeBytes))
      throw new Invalid(`Expected ${options.sizeBytes} bytes, but there were ${sizeBytes}`)
    if (sha256 !== (options.sha256 ?? sha256)) throw new Invalid(`The bytes have the SHA-256 ${sha256}, not ${options.sha256}`)
    await sync(path)
    return { sizeBytes, sha256 }
  }

  /** Reads a range by decompressing everything before it. The last chunk is held back until the whole blob is verified. */
  async *#unpacked({ key, sha256 }: BlobInfo, start: number, end: number): AsyncGenerator<Buffer> {
    const packed = createReadStream(this.#path(key))
    const unpacked = createGunzip()
    packed.on('error', error => unpacked.destroy(error))
    const hash = createHash('sha256')
    let position = 0
    let held: Buffer | undefined
    try {
      for await (const piece of packed.pipe(unpacked) as AsyncIterable<Buffer>) {
        hash.update(piece)
        const part = piece.subarray(Math.max(start - position, 0), Math.max(end + 1 - position, 0))
        position += piece.length
        if (part.length === 0) continue
        if (held) yield held
        held = part
      }
    } catch (error) {
      throw codeOf(error).startsWith('Z_') ? new CorruptContent(undefined, { cause: error }) : asProblem(error)
    } finally {
      packed.destroy()
    }
    if (hash.digest('hex') !== sha256) throw new CorruptContent()
    if (held) yield held
  }

  #path(...names: readonly string[]): string {
    return join(this.#folder, ...names)
  }
}
wire(GzipBlobs, Config, Installation, Clock)

/** Syncs a file or directory, so that it survives a power failure. */
async function sync(path: string): Promise<void> {
  await using handle = await open(path, 'r')
  await handle.datasync()
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '')

/** Only errors of the operating system are reported as disk problems: an uploader's error is passed through. */
function asProblem(error: unknown): unknown {
  if (error instanceof Problem || !(error instanceof Error) || !('syscall' in error)) return error
  if (codeOf(error) === 'ENOSPC') return new NoSpace(undefined, { cause: error })
  return new Unavailable('The blob folder is not accessible', { cause: error })
}
