import { createHash, type Hash } from 'node:crypto'
import { type BigIntStats, constants } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { partialSuffix, sha256Of } from './local-files.ts'

const readBytes = 1024 * 1024

const unlessAbsent = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT') throw error
}

const statOf = (file: string): Promise<BigIntStats | undefined> => stat(file, { bigint: true }).catch(unlessAbsent)

const isSame = (one: BigIntStats, other: BigIntStats | undefined): boolean => one.ino === other?.ino && one.dev === other.dev

/**
 * A partial download, with the id in its name: the next attempt, even in a later run, resumes it, because the bytes of an id never change. Several
 * processes may write it concurrently: each writes the same bytes at the same positions. It stays open until it is complete and is never truncated, so
 * that it has no gaps even if another process renames or removes it meanwhile.
 */
export class PartialFile {
  readonly #file: string
  readonly #part: string
  #handle: FileHandle | undefined
  #hash: Hash = createHash('sha256')
  #bytes = 0

  constructor(file: string, id: string) {
    this.#file = file
    this.#part = join(dirname(file), `.${id}${partialSuffix}`)
  }

  /** The position to resume at. */
  get bytes(): number {
    return this.#bytes
  }

  /** Opens the file, or creates it, and reads the bytes it has. */
  async open(): Promise<void> {
    await this.close()
    await mkdir(dirname(this.#file), { recursive: true })
    this.#handle = await open(this.#part, constants.O_RDWR | constants.O_CREAT)
    this.rewind()
    const { size } = await this.#handle.stat()
    const buffer = Buffer.allocUnsafe(Math.min(size, readBytes))
    while (this.#bytes < size) {
      const { bytesRead } = await this.#handle.read(buffer, 0, buffer.length, this.#bytes)
      if (bytesRead === 0) break
      this.#count(buffer.subarray(0, bytesRead))
    }
  }

  async close(): Promise<void> {
    const handle = this.#handle
    this.#handle = undefined
    await handle?.close()
  }

  async remove(): Promise<void> {
    if (await this.#isOwn()) await rm(this.#part, { force: true })
    await this.close()
  }

  /** Starts from the first byte, in the same file. */
  rewind(): void {
    this.#hash = createHash('sha256')
    this.#bytes = 0
  }

  /** Starts from the first byte, in a new file. */
  async discard(): Promise<void> {
    await this.remove()
    await this.open()
  }

  /** Writes bytes at the position. */
  async append(bytes: Buffer): Promise<void> {
    for (let written = 0; written < bytes.length; )
      written += (await this.#opened.write(bytes, written, bytes.length - written, this.#bytes + written)).bytesWritten
    this.#count(bytes)
  }

  /** The digest of the bytes up to the position, in hex. */
  sha256(): string {
    return this.#hash.copy().digest('hex')
  }

  /** Whether the file ends at the position. */
  async endsHere(): Promise<boolean> {
    return (await this.#opened.stat()).size === this.#bytes
  }

  /**
   * Gives the verified file its name, unless another process has done so. False if neither is possible, because another process had removed this file:
   * `open` then continues with that of the other.
   */
  async complete(): Promise<boolean> {
    const own = await this.#opened.stat({ bigint: true })
    if (await this.#isOwn()) {
      // Windows renames closed files only.
      await this.close()
      await rename(this.#part, this.#file).catch(unlessAbsent)
      if (isSame(own, await statOf(this.#file))) return true
    }
    return (await sha256Of(this.#file).catch(unlessAbsent)) === this.sha256()
  }

  /** Whether the partial file of that name is the open one, rather than that of another process. */
  async #isOwn(): Promise<boolean> {
    const own = await this.#handle?.stat({ bigint: true })
    return own !== undefined && isSame(own, await statOf(this.#part))
  }

  get #opened(): FileHandle {
    if (!this.#handle) throw new Error(`${this.#part} is not open`)
    return this.#handle
  }

  #count(chunk: Buffer): void {
    this.#hash.update(chunk)
    this.#bytes += chunk.length
  }
}
