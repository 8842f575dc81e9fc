import { randomBytes } from 'node:crypto'
import { access, type FileHandle, link, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { type ByteRange, CorruptContent, type Log } from 'pounce/sdk'
import type { BlobEntry, BlobInfo } from 'pounce/sdk/store-kit'
import { type FileKey, fileName, formatKey, parseKey } from './blob-key.ts'
import { CheckedStream, checkRange } from './checked-stream.ts'
import { codeOf, type Disk, syncPath } from './disk.ts'
import { blocksOf, combinedCrc, decodeSums, encodeSums, recomputeSums } from './disk-block-checksums.ts'
import { FileWriter, type WrittenFile } from './file-writer.ts'
import { Transfers } from './transfers.ts'

/**
 * Blobs in a file each: `files/<ab>/<name>`, with the checksums of their blocks in `sums/<ab>/<name>`; and prefixes of files, which are hard
 * links to these: `beginnings/<ab>/<name>`, whose names contain the length.
 */
export class SingleFileBlobs {
  readonly #files: string
  readonly #beginnings: string
  readonly #sums: string
  readonly #temporaryFolder: string
  readonly #disk: Disk
  readonly #log: Log
  readonly #transfers = new Transfers()
  readonly #knownFolders = new Set<string>()

  constructor(folder: string, temporaryFolder: string, disk: Disk, log: Log) {
    this.#files = join(folder, 'files')
    this.#beginnings = join(folder, 'beginnings')
    this.#sums = join(folder, 'sums')
    this.#temporaryFolder = temporaryFolder
    this.#disk = disk
    this.#log = log
  }

  async start(): Promise<void> {
    await mkdir(this.#files, { recursive: true })
    await mkdir(this.#beginnings, { recursive: true })
    await mkdir(this.#sums, { recursive: true })
  }

  /** A temporary file to write a blob to, invisible until `keep`. */
  async begin(): Promise<FileWriter> {
    return await FileWriter.open(join(this.#temporaryFolder, randomBytes(8).toString('hex')), this.#disk, this.#transfers)
  }

  /** Gives a finished file its name; it is durable when this resolves. */
  async keep(temporaryPath: string, written: WrittenFile, modified: Date): Promise<BlobInfo> {
    const { sizeBytes, sha256, sums } = written
    const key: FileKey = { in: 'file', modified, random: randomBytes(8).toString('hex'), sizeBytes, sha256 }
    const folder = await this.#folderFor(key)
    const path = join(folder, fileName(key))
    await rename(temporaryPath, path)
    try {
      await Promise.all([syncPath(this.#disk, folder), this.#writeSums(key, sums)])
    } catch (error) {
      await this.remove(key)
      throw error
    }
    return { key: formatKey(key), sizeBytes, sha256 }
  }

  /** Stores what has been written of a file so far as a blob of its own; it is durable when this resolves. */
  async keepBeginning(file: FileWriter, modified: Date): Promise<BlobInfo> {
    const { sizeBytes, sha256 } = await file.syncBeginning()
    const key: FileKey = { in: 'beginning', modified, random: randomBytes(8).toString('hex'), sizeBytes, sha256 }
    const folder = await this.#folderFor(key)
    await link(file.path, join(folder, fileName(key)))
    try {
      await syncPath(this.#disk, folder)
    } catch (error) {
      await this.remove(key)
      throw error
    }
    return { key: formatKey(key), sizeBytes, sha256 }
  }

  /** Whether hard links are supported here, which prefixes need. */
  async hasLinks(): Promise<boolean> {
    const [one, other] = [1, 2].map(() => join(this.#temporaryFolder, randomBytes(8).toString('hex'))) as [string, string]
    await writeFile(one, '')
    try {
      await link(one, other)
      return true
    } catch {
      return false
    } finally {
      await Promise.all([one, other].map(path => rm(path, { force: true })))
    }
  }

  async open(key: FileKey, range: ByteRange = { start: 0, end: key.sizeBytes - 1 }): Promise<Readable | undefined> {
    const file = await this.#openFile(key)
    if (!file) return undefined
    try {
      checkRange(range, key.sizeBytes)
      const { size } = await file.stat()
      requireSize(key, size)
      const sums = (await this.#readSums(key)) ?? (await this.#repairSums(key, file))
      return new CheckedStream({ key: formatKey(key), file, sizeBytes: key.sizeBytes, sums, range }, this.#transfers)
    } catch (error) {
      await file.close()
      throw error
    }
  }

  /** The path of the blob's file; undefined when absent. */
  async find(key: FileKey): Promise<string | undefined> {
    const path = this.#pathOf(key)
    try {
      const { size } = await stat(path)
      requireSize(key, size)
      return path
    } catch (error) {
      await this.#mustBeAbsent(error)
      return undefined
    }
  }

  /** The CRC-32 of the whole, combined from those of its blocks; undefined when these do not exist. */
  async crc32(key: FileKey): Promise<number | undefined> {
    const sums = (await this.find(key)) === undefined ? undefined : await this.#readSums(key)
    return sums && combinedCrc(sums, key.sizeBytes)
  }

  async remove(key: FileKey): Promise<void> {
    await rm(pathIn(this.#sums, key), { force: true })
    await rm(this.#pathOf(key), { force: true })
  }

  async *list(): AsyncGenerator<BlobEntry> {
    for (const [root, kind] of [
      [this.#files, 'f'],
      [this.#beginnings, 'b'],
    ] as const)
      for (const folder of await readdir(root, { withFileTypes: true })) {
        if (!folder.isDirectory()) continue
        for (const name of await readdir(join(root, folder.name))) {
          const text = `${kind}/${folder.name}/${name}`
          const key = parseKey(text)
          if (key && key.in !== 'segment') yield { key: text, sizeBytes: key.sizeBytes, modified: key.modified }
        }
      }
  }

  async #folderFor(key: FileKey): Promise<string> {
    const folder = dirname(this.#pathOf(key))
    if (this.#knownFolders.has(folder)) return folder
    await mkdir(folder, { recursive: true })
    await syncPath(this.#disk, this.#rootOf(key))
    this.#knownFolders.add(folder)
    return folder
  }

  /** The checksums can be recomputed from the bytes, so they are not synced, and a blob is stored without them when the disk is full. */
  async #writeSums(key: FileKey, sums: Uint32Array): Promise<void> {
    const path = pathIn(this.#sums, key)
    try {
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, encodeSums(sums))
    } catch (error) {
      this.#log.warn('Failed to write the checksums of a blob; they will be written at the next read', { key: formatKey(key), error })
    }
  }

  async #readSums(key: FileKey): Promise<Uint32Array | undefined> {
    try {
      return decodeSums(await readFile(pathIn(this.#sums, key)), blocksOf(key.sizeBytes))
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    }
  }

  async #repairSums(key: FileKey, file: FileHandle): Promise<Uint32Array> {
    const sums = await recomputeSums(file, key.sizeBytes, key.sha256)
    if (!sums) throw damaged(key)
    await this.#writeSums(key, sums)
    return sums
  }

  async #openFile(key: FileKey): Promise<FileHandle | undefined> {
    try {
      return await open(this.#pathOf(key), 'r')
    } catch (error) {
      await this.#mustBeAbsent(error)
      return undefined
    }
  }

  #rootOf({ in: kind }: FileKey): string {
    return kind === 'file' ? this.#files : this.#beginnings
  }

  #pathOf(key: FileKey): string {
    return pathIn(this.#rootOf(key), key)
  }

  /** A missing file means an absent blob only while the store itself exists: an unmounted disk has no files either. */
  async #mustBeAbsent(error: unknown): Promise<void> {
    if (codeOf(error) !== 'ENOENT') throw error
    await access(this.#files)
  }
}

const pathIn = (root: string, key: FileKey): string => join(root, key.random.slice(0, 2), fileName(key))

/** A blob has the length given by its key; what was appended after a prefix does not belong to it. */
const requireSize = (key: FileKey, sizeBytes: number): void => {
  if (key.in === 'file' ? sizeBytes !== key.sizeBytes : sizeBytes < key.sizeBytes) throw damaged(key)
}

const damaged = (key: FileKey): CorruptContent => new CorruptContent(undefined, { details: { key: formatKey(key) } })
