import type { FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import { Invalid } from 'pounce/sdk'
import type { ZipFile } from 'yauzl'
import { type ZipDirectory, ZipDirectoryReader, type ZipFileEntry } from './zip-directory.ts'

const isSystemError = (error: unknown): boolean => error instanceof Error && 'syscall' in error

/** Faults of the archive are reported to the client; faults of the local disk are not. */
const blamed = (error: unknown, what: string): unknown => {
  if (isSystemError(error) || error instanceof Invalid || (error instanceof Error && error.name === 'AbortError')) return error
  return new Invalid(`${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
}

/** A received ZIP, in a local file. */
export class IncomingZip {
  readonly directory: ZipDirectory
  readonly #zip: ZipFile

  private constructor(zip: ZipFile, directory: ZipDirectory) {
    this.#zip = zip
    this.directory = directory
  }

  /** Reads the directory and refuses malicious archives (`Invalid`). The file stays open until `close`, or until this fails. */
  static async open(file: FileHandle, signal: AbortSignal): Promise<IncomingZip> {
    const { fromFdPromise, getFileNameLowLevel } = await import('yauzl')
    const { size } = await file.stat()
    try {
      const zip = await fromFdPromise(file.fd, { autoClose: false, decodeStrings: false, validateEntrySizes: true })
      const directory = new ZipDirectoryReader(size, zip.entryCount)
      for await (const entry of zip.eachEntry()) {
        signal.throwIfAborted()
        directory.add(entry, getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, true))
      }
      directory.finish()
      return new IncomingZip(zip, directory)
    } catch (error) {
      throw blamed(error, 'Not a ZIP archive, or its directory is damaged')
    }
  }

  /** The bytes of an entry; throws `Invalid` when their length or checksum differs from the directory. */
  async *read({ path, entry }: ZipFileEntry): AsyncGenerator<Buffer> {
    const what = `The entry ${JSON.stringify(path)} cannot be read`
    let crc = 0
    let stream: Readable | undefined
    try {
      stream = await this.#zip.openReadStreamPromise(entry)
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        crc = crc32(chunk, crc)
        yield chunk
      }
    } catch (error) {
      throw blamed(error, what)
    } finally {
      stream?.destroy()
    }
    if (crc !== entry.crc32) throw new Invalid(`${what}: checksum mismatch`)
  }

  /** A small entry as a whole; throws `Invalid` beyond `maxBytes`. */
  async small(entry: ZipFileEntry, maxBytes: number): Promise<Buffer> {
    if (entry.sizeBytes > maxBytes) throw new Invalid(`The entry ${JSON.stringify(entry.path)} has more than ${maxBytes} bytes`)
    return buffer(this.read(entry))
  }
}
