import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type BlobStore, type ByteRange, configPort, Installation, Invalid, NoSpace, Problem, s, Unavailable, wire } from 'pounce/sdk'
import type { BlobEntry, BlobInfo, PutOptions } from 'pounce/sdk/store-kit'

export const config = s.Object({
  folder: s.Optional(s.String({ minLength: 1, description: 'Folder of the files. Default: `template` in the data folder' })),
})
const Config = configPort(config)

const keyForm = /^[0-9a-f]{24}-([0-9a-f]{64})$/

/** Stores bytes as files in one folder. The key is the file name and ends with the SHA-256 of the bytes. */
export class FolderBlobs implements BlobStore {
  readonly #folder: string

  constructor({ folder }: s.Static<typeof config>, { dataFolder }: Installation) {
    this.#folder = folder ?? join(dataFolder, 'template')
  }

  async start(): Promise<void> {
    await rm(this.#path('tmp'), { recursive: true, force: true })
    await mkdir(this.#path('tmp'), { recursive: true })
  }

  async put(source: Readable | Uint8Array, options: PutOptions = {}): Promise<BlobInfo> {
    const random = randomBytes(12).toString('hex')
    const temporary = this.#path('tmp', random)
    try {
      const { sizeBytes, sha256 } = await write(source, temporary, options.signal)
      if (sizeBytes !== (options.sizeBytes ?? sizeBytes))
        throw new Invalid(`Expected ${options.sizeBytes} bytes, but there were ${sizeBytes}`)
      if (sha256 !== (options.sha256 ?? sha256)) throw new Invalid(`The bytes have the SHA-256 ${sha256}, not ${options.sha256}`)
      const key = `${random}-${sha256}`
      await sync(temporary)
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
    if (!range) return createReadStream(this.#path(key))
    const { start, end } = range
    const isInside = Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && end < info.sizeBytes
    if (!isInside) throw new Invalid(`The range ${start}-${end} is not within ${info.sizeBytes} bytes`)
    return createReadStream(this.#path(key), { start, end })
  }

  async stat(key: string): Promise<BlobInfo | undefined> {
    const sha256 = keyForm.exec(key)?.[1]
    if (sha256 === undefined) return undefined
    const found = await this.#fileOf(key)
    return found && { key, sizeBytes: found.size, sha256 }
  }

  async remove(key: string): Promise<void> {
    if (keyForm.test(key)) await rm(this.#path(key), { force: true })
  }

  async *list(): AsyncGenerator<BlobEntry> {
    for (const key of await readdir(this.#folder)) {
      const found = keyForm.test(key) ? await this.#fileOf(key) : undefined
      if (found) yield { key, sizeBytes: found.size, modified: found.mtime }
    }
  }

  async #fileOf(key: string): Promise<{ readonly size: number; readonly mtime: Date } | undefined> {
    try {
      return await stat(this.#path(key))
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined
      throw asProblem(error)
    }
  }

  #path(...names: readonly string[]): string {
    return join(this.#folder, ...names)
  }
}
wire(FolderBlobs, Config, Installation)

const write = async (
  source: Readable | Uint8Array,
  path: string,
  signal: AbortSignal | undefined,
): Promise<{ readonly sizeBytes: number; readonly sha256: string }> => {
  const hash = createHash('sha256')
  let sizeBytes = 0
  const measure = new Transform({
    transform(piece: Buffer, _encoding, done) {
      hash.update(piece)
      sizeBytes += piece.length
      done(null, piece)
    },
  })
  const bytes = source instanceof Uint8Array ? Readable.from([source]) : source
  await pipeline(bytes, measure, createWriteStream(path, { flags: 'wx' }), signal ? { signal } : {})
  return { sizeBytes, sha256: hash.digest('hex') }
}

/** Syncs a file or directory, so that it survives a power failure. */
const sync = async (path: string): Promise<void> => {
  const handle = await open(path, 'r')
  try {
    await handle.datasync()
  } finally {
    await handle.close()
  }
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '')

/** Only errors of the operating system are reported as disk problems: an uploader's error is passed through. */
const asProblem = (error: unknown): unknown => {
  if (error instanceof Problem || !(error instanceof Error) || !('syscall' in error)) return error
  if (codeOf(error) === 'ENOSPC') return new NoSpace(undefined, { cause: error })
  return new Unavailable('The blob folder is not accessible', { cause: error })
}
