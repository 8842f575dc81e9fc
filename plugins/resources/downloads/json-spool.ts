import { createHash, randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { NoSpace } from 'pounce/sdk'
import { isDiskFull, Mutex } from 'pounce/sdk/kit'
import { noteEntry } from './archive-writer.ts'
import type { PayloadFile } from './bag.ts'

/** A longer file is kept on disk until it is sent: all the metadata of a dataset can be larger than memory. */
const maxHeldBytes = 1024 * 1024
/** Length of a value in bytes after which the event loop is yielded. */
const longValue = 256 * 1024

/** Of several archives that describe large documents at once, one continues per turn of the event loop. */
const turns = new Mutex()

/** Writes JSON lists of any length for one archive. */
export class JsonSpool implements AsyncDisposable {
  readonly #folder: string
  readonly #files = new Set<FileHandle>()

  /** `folder`: for temporary files. */
  constructor(folder: string) {
    this.#folder = folder
  }

  /** A JSON list of the values. Its length and digest are known before it is sent; memory: one value. */
  async list(path: string, values: AsyncIterable<unknown> | Iterable<unknown>, modified: Date): Promise<PayloadFile> {
    const digest = createHash('sha256')
    const buffers: Buffer[] = []
    let sizeBytes = 0
    let file: FileHandle | undefined
    const add = async (text: string): Promise<void> => {
      const piece = Buffer.from(text)
      digest.update(piece)
      buffers.push(piece)
      sizeBytes += piece.length
      if (sizeBytes > maxHeldBytes) {
        file ??= await this.#create()
        await written(file, buffers.splice(0))
      }
      if (piece.length > longValue) await turns.use(() => setImmediate())
    }
    let before = '['
    for await (const value of values) {
      await add(before + JSON.stringify(value))
      before = ','
    }
    await add(before === '[' ? '[]' : ']')
    const entry = file ? this.#entryOf(path, file, sizeBytes, modified) : noteEntry(path, Buffer.concat(buffers), modified)
    return { entry, sha256: digest.digest('hex') }
  }

  /** Deletes the files that were not sent. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const file of this.#files) await file.close()
  }

  #entryOf(path: string, file: FileHandle, sizeBytes: number, modified: Date): PayloadFile['entry'] {
    const open = async () => {
      const stream = file.createReadStream({ start: 0, highWaterMark: longValue })
      stream.once('close', () => this.#files.delete(file))
      return stream
    }
    return { path, sizeBytes, modified, open }
  }

  /** A file without a name: it ends with its handle, also when the process is killed. */
  async #create(): Promise<FileHandle> {
    const path = join(this.#folder, randomUUID())
    await mkdir(this.#folder, { recursive: true })
    const file = await open(path, 'wx+', 0o600)
    this.#files.add(file)
    await rm(path, { force: true })
    return file
  }
}

const written = async (file: FileHandle, pieces: readonly Buffer[]): Promise<void> => {
  try {
    await file.writeFile(pieces)
  } catch (error) {
    throw isDiskFull(error) ? new NoSpace(undefined, { cause: error }) : error
  }
}
