import { type FileHandle, open, readdir, unlink } from 'node:fs/promises'
import { type Disk, syncPath, writeAll } from './disk.ts'
import type { SegmentFiles } from './segment-files.ts'
import { encodeHeader, headerBytes, type SegmentEntry } from './segment-format.ts'

/** A segment is closed when it has grown beyond this size. */
const segmentBytes = 16 * 1024 * 1024
const batchBytes = 4 * 1024 * 1024

interface Waiting {
  readonly bytes: Uint8Array
  readonly sha256: string
  readonly modified: Date
  resolve(place: SegmentLocation): void
  reject(error: unknown): void
}

/** The location of an entry. */
export interface SegmentLocation {
  readonly segment: string
  readonly offset: number
}

interface Current {
  readonly segment: string
  readonly file: FileHandle
}

/**
 * Appends entries to the newest segment. Those that arrive while a batch is being synced form the next batch, with one write and one sync
 * for all of them. It never continues a segment of an earlier run, nor one whose write or sync failed.
 */
export class SegmentWriter {
  readonly #folder: string
  readonly #files: SegmentFiles
  readonly #disk: Disk
  readonly #durable = new Map<string, number>()
  #waiting: Waiting[] = []
  #run: Promise<void> | undefined
  #current: Current | undefined
  #next = 0

  constructor(folder: string, files: SegmentFiles, disk: Disk) {
    this.#folder = folder
    this.#files = files
    this.#disk = disk
  }

  /** Names of all segments, oldest first. */
  async segments(): Promise<readonly string[]> {
    const names = await readdir(this.#folder)
    return names.flatMap(name => /^([0-9a-f]{8})\.segment$/.exec(name)?.[1] ?? []).sort()
  }

  async start(): Promise<void> {
    const newest = (await this.segments()).at(-1)
    this.#next = newest === undefined ? 0 : Number.parseInt(newest, 16) + 1
  }

  /** How much of a segment this run has made durable; undefined for a segment of an earlier run, which is valid up to the end of its file. */
  durableBytes(segment: string): number | undefined {
    return this.#durable.get(segment)
  }

  /** True for the segment that entries are being added to. */
  isOpen(segment: string): boolean {
    return this.#current?.segment === segment
  }

  /** Resolves when the entry is durable. */
  append(bytes: Uint8Array, sha256: string, modified: Date): Promise<SegmentLocation> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ bytes, sha256, modified, resolve, reject })
      this.#run ??= this.#writeAllWaiting()
    })
  }

  /** Writes pending entries and closes the segment. */
  async dispose(): Promise<void> {
    await this.#run
    await this.#seal()
  }

  async #writeAllWaiting(): Promise<void> {
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const batch = this.#takeBatch()
      try {
        const places = await this.#writeBatch(batch)
        batch.forEach((waiting, at) => {
          waiting.resolve(places[at] as SegmentLocation)
        })
      } catch (error) {
        for (const waiting of batch) waiting.reject(error)
      }
    }
    this.#run = undefined
  }

  #takeBatch(): readonly Waiting[] {
    let bytes = 0
    let count = 0
    while (count < this.#waiting.length && bytes < batchBytes) {
      bytes += headerBytes + (this.#waiting[count]?.bytes.length ?? 0)
      count += 1
    }
    return this.#waiting.splice(0, count)
  }

  async #writeBatch(batch: readonly Waiting[]): Promise<readonly SegmentLocation[]> {
    const { segment, file } = await this.#openSegment()
    const begin = this.#durable.get(segment) ?? 0
    const pieces: Uint8Array[] = []
    let offset = begin
    const places = batch.map(({ bytes, sha256, modified }) => {
      const entry: SegmentEntry = { offset, sizeBytes: bytes.length, sha256, modified }
      pieces.push(encodeHeader(entry), bytes)
      offset += headerBytes + bytes.length
      return { segment, offset: entry.offset }
    })
    try {
      await writeAll(this.#disk, file, pieces, begin)
      await this.#disk.sync(file)
    } catch (error) {
      await this.#abandon(begin)
      throw error
    }
    this.#durable.set(segment, offset)
    return places
  }

  async #openSegment(): Promise<Current> {
    if (this.#current && (this.#durable.get(this.#current.segment) ?? 0) >= segmentBytes) await this.#seal()
    if (this.#current) return this.#current
    const segment = this.#next.toString(16).padStart(8, '0')
    this.#next += 1
    const file = await open(this.#files.pathOf(segment), 'wx')
    this.#current = { segment, file }
    this.#durable.set(segment, 0)
    try {
      await syncPath(this.#disk, this.#folder)
    } catch (error) {
      await this.#abandon(0)
      throw error
    }
    return this.#current
  }

  async #seal(): Promise<void> {
    const file = this.#current?.file
    this.#current = undefined
    await file?.close()
  }

  /** Truncates what may not have reached the disk; should that fail too, `durableBytes` hides it. */
  async #abandon(goodBytes: number): Promise<void> {
    const current = this.#current
    this.#current = undefined
    if (!current) return
    await current.file.truncate(goodBytes).catch(() => undefined)
    await current.file.close().catch(() => undefined)
    if (goodBytes === 0) await unlink(this.#files.pathOf(current.segment)).catch(() => undefined)
  }
}
