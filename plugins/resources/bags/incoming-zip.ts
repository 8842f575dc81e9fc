import type { FileHandle } from 'node:fs/promises'
import { pipeline, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { crc32, createInflateRaw } from 'node:zlib'
import { Invalid } from 'pounce/sdk'
import type { ZipFile } from 'yauzl'
import { type ZipDirectory, ZipDirectoryReader, type ZipFileEntry } from './zip-directory.ts'

const isSystemError = (error: unknown): boolean => error instanceof Error && 'syscall' in error

/** Faults of the archive are reported to the client; faults of the local disk are not. */
const blamed = (error: unknown, what: string): unknown => {
  if (isSystemError(error) || error instanceof Invalid || (error instanceof Error && error.name === 'AbortError')) return error
  return new Invalid(`${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
}

/** A part of a file; shorter if the file is. */
async function* partOf(file: FileHandle, start: number, end: number): AsyncGenerator<Buffer> {
  for (let at = start; at < end; ) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(Math.min(64 * 1024, end - at)), { position: at })
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
    at += bytesRead
  }
}

/**
 * A received ZIP, in a local file. Entries are not read by `ZipFile.openReadStream`: if one of its streams is destroyed while it waits
 * for another, yauzl 3.4 throws outside of any call, and all other streams of the file wait forever.
 */
export class IncomingZip {
  readonly directory: ZipDirectory
  readonly #file: FileHandle
  readonly #zip: ZipFile

  private constructor(file: FileHandle, zip: ZipFile, directory: ZipDirectory) {
    this.#file = file
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
      return new IncomingZip(file, zip, directory)
    } catch (error) {
      throw blamed(error, 'Not a ZIP archive, or its directory is damaged')
    }
  }

  /** The bytes of an entry; throws `Invalid` when their length or checksum differs from the directory. */
  async *read({ path, entry }: ZipFileEntry): AsyncGenerator<Buffer> {
    const what = `The entry ${JSON.stringify(path)} cannot be read`
    let [crc, sizeBytes] = [0, 0]
    try {
      const { fileDataStart } = await this.#zip.readLocalFileHeaderPromise(entry, { minimal: true })
      const stored = partOf(this.#file, fileDataStart, fileDataStart + entry.compressedSize)
      // A failure of the pipeline is thrown by the iteration.
      const bytes = entry.compressionMethod === 0 ? stored : pipeline(Readable.from(stored), createInflateRaw(), () => undefined)
      for await (const chunk of bytes as AsyncIterable<Buffer>) {
        sizeBytes += chunk.length
        if (sizeBytes > entry.uncompressedSize) break
        crc = crc32(chunk, crc)
        yield chunk
      }
    } catch (error) {
      throw blamed(error, what)
    }
    if (sizeBytes !== entry.uncompressedSize) throw new Invalid(`${what}: its length is not ${entry.uncompressedSize} bytes`)
    if (crc !== entry.crc32) throw new Invalid(`${what}: checksum mismatch`)
  }

  /** A small entry as a whole; throws `Invalid` beyond `maxBytes`. */
  async small(entry: ZipFileEntry, maxBytes: number): Promise<Buffer> {
    if (entry.sizeBytes > maxBytes) throw new Invalid(`The entry ${JSON.stringify(entry.path)} has more than ${maxBytes} bytes`)
    return buffer(this.read(entry))
  }
}
