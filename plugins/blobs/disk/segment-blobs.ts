import { hash } from 'node:crypto'
import { readSync } from 'node:fs'
import { type FileHandle, mkdir, open, statfs } from 'node:fs/promises'
import { CorruptContent, type Log } from 'pounce/sdk'
import type { BlobEntry, BlobInfo } from 'pounce/sdk/store-kit'
import { formatKey, type SegmentKey } from './blob-key.ts'
import { type Disk, readFully } from './disk.ts'
import { SegmentFiles } from './segment-files.ts'
import { decodeHeader, headerBytes, type SegmentRange, walkSegment } from './segment-format.ts'
import { SegmentSpace } from './segment-space.ts'
import { SegmentWriter } from './segment-writer.ts'

/** Blobs of at most this many bytes share segment files, and share the syncs that make them durable. */
export const smallBytes = 64 * 1024

/** Small blobs, many to a file. A key contains the location of its entry, so reading needs no index. */
export class SegmentBlobs {
  readonly #folder: string
  readonly #log: Log
  readonly #files: SegmentFiles
  readonly #writer: SegmentWriter
  readonly #space: SegmentSpace
  readonly #reader = new QuickReader()
  readonly #memory = new SharedMemory()

  constructor(folder: string, temporaryFolder: string, disk: Disk, log: Log) {
    this.#folder = folder
    this.#log = log
    this.#files = new SegmentFiles(folder)
    this.#writer = new SegmentWriter(folder, this.#files, disk)
    this.#space = new SegmentSpace({ folder, temporaryFolder, files: this.#files, writer: this.#writer, disk, log })
  }

  async start(): Promise<void> {
    await mkdir(this.#folder, { recursive: true })
    await this.#reader.start(this.#folder)
    await this.#writer.start()
    const newest = (await this.#writer.segments()).at(-1)
    if (newest) await this.#cutTornTail(newest)
  }

  async dispose(): Promise<void> {
    await this.#writer.dispose()
    await this.#space.dispose()
    await this.#files.dispose()
  }

  /** Resolves when the bytes are durable. */
  async put(bytes: Uint8Array, sha256: string, modified: Date): Promise<BlobInfo> {
    const { segment, offset } = await this.#writer.append(bytes, sha256, modified)
    return { key: formatKey({ in: 'segment', segment, offset, sizeBytes: bytes.length, sha256 }), sizeBytes: bytes.length, sha256 }
  }

  /** All bytes of a blob, verified; undefined when absent. */
  async read(key: SegmentKey): Promise<Buffer | undefined> {
    return await this.#files.use(key.segment, async file => {
      const bytes = this.#memory.take(headerBytes + key.sizeBytes)
      const got = this.#reader.isQuick ? this.#reader.read(file, bytes, key.offset) : await readFully(file, bytes, key.offset)
      const data = bytes.subarray(headerBytes)
      const isThere = this.#isThere(file, key, bytes.subarray(0, got))
      if (!(typeof isThere === 'boolean' ? isThere : await isThere)) return undefined
      if (got < bytes.length || hash('sha256', data) !== key.sha256) throw damaged(key)
      return data
    })
  }

  /** True when the blob exists, according to its header alone. */
  async has(key: SegmentKey): Promise<boolean> {
    const isThere = await this.#files.use(key.segment, async file => {
      const header = Buffer.allocUnsafe(headerBytes)
      return await this.#isThere(file, key, header.subarray(0, await readFully(file, header, key.offset)))
    })
    return isThere ?? false
  }

  async remove(key: SegmentKey): Promise<void> {
    await this.#space.remove(key)
  }

  /** Every blob; entries that are still being written are not included. */
  async *list(): AsyncGenerator<BlobEntry> {
    for (const segment of await this.#writer.segments()) {
      const entries = (await this.#files.use(segment, file => this.#liveEntries(segment, file))) ?? []
      for (const { offset, sizeBytes, sha256, modified } of entries) {
        yield { key: formatKey({ in: 'segment', segment, offset, sizeBytes, sha256 }), sizeBytes, modified }
      }
      if (entries.length === 0) await this.#space.tidy(segment)
    }
  }

  async #liveEntries(segment: string, file: FileHandle): Promise<readonly SegmentRange[]> {
    const end = this.#writer.durableBytes(segment) ?? (await file.stat()).size
    const live: SegmentRange[] = []
    for await (const stretch of walkSegment(file, end)) {
      if (stretch.state === 'live') live.push(stretch)
      if (stretch.state === 'damaged') this.#log.warn('A segment is partly damaged', { segment, offset: stretch.offset })
    }
    return live
  }

  /** Decides by the header and, when that does not match the key, by the headers before it. */
  #isThere(file: FileHandle, key: SegmentKey, bytes: Buffer): boolean | Promise<boolean> {
    const header = decodeHeader(bytes, key.offset)
    if (header.sha256 === key.sha256 && header.sizeBytes === key.sizeBytes) {
      if (header.state === 'damaged') throw damaged(key)
      return header.state === 'live'
    }
    return this.#missing(file, key)
  }

  /** False when the blob is absent; throws when it is in a damaged part. */
  async #missing(file: FileHandle, key: SegmentKey): Promise<false> {
    const end = this.#writer.durableBytes(key.segment) ?? (await file.stat()).size
    for await (const stretch of walkSegment(file, end)) {
      const isHit = stretch.state === 'damaged' && stretch.offset <= key.offset && key.offset < stretch.offset + stretch.sizeBytes
      if (isHit) throw damaged(key)
      if (stretch.offset >= key.offset) break
    }
    return false
  }

  /** A crash can leave an incomplete entry at the end of the newest segment. It was never acknowledged. */
  async #cutTornTail(segment: string): Promise<void> {
    await using file = await open(this.#files.pathOf(segment), 'r+')
    const { size } = await file.stat()
    let last: SegmentRange | undefined
    for await (const stretch of walkSegment(file, size)) last = stretch
    if (last?.state !== 'damaged') return
    await file.truncate(last.offset)
    this.#log.info('Truncated an entry left incomplete by a crash', { segment, offset: last.offset })
  }
}

/**
 * Memory for reads, shared by many blobs: allocating a buffer for each, as Node does from 4 KiB on, costs as much as the read, plus some
 * garbage collection. A slab is freed once none of its slices is in use.
 */
class SharedMemory {
  #piece = Buffer.alloc(0)
  #used = 0

  take(sizeBytes: number): Buffer {
    if (sizeBytes > maxSharedBytes) return Buffer.allocUnsafe(sizeBytes)
    if (this.#used + sizeBytes > this.#piece.length) {
      this.#piece = Buffer.allocUnsafeSlow(pieceBytes)
      this.#used = 0
    }
    const taken = this.#piece.subarray(this.#used, this.#used + sizeBytes)
    this.#used += sizeBytes
    return taken
  }
}

const pieceBytes = 64 * 1024
const maxSharedBytes = 16 * 1024

/** File system types of Linux's statfs(2) for local disks and memory: ext4, xfs, btrfs, zfs, f2fs, overlayfs, tmpfs. */
const localSystems: ReadonlySet<number> = new Set([0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1, 0xf2f52010, 0x794c7630, 0x01021994])

/** A read that takes longer waited for the disk or the processor. */
const slowReadMs = 4
const slowForMs = 1000
/** Decay of the share of slow reads per read; from two slow reads in five, the disk is considered slow. */
const [fading, manySlow] = [0.8, 1.4]

/**
 * Reads small blobs on the main thread, where that takes some microseconds: three times the throughput of the thread pool. Only on local file
 * systems, which do not block for long, and not for a second after some reads that waited for the disk.
 */
class QuickReader {
  #isLocal = false
  #slowUntilMs = 0
  #slow = 0

  async start(folder: string): Promise<void> {
    this.#isLocal = localSystems.has((await statfs(folder)).type)
  }

  get isQuick(): boolean {
    return this.#isLocal && performance.now() >= this.#slowUntilMs
  }

  /** Like `readFully`. */
  read({ fd }: FileHandle, into: Uint8Array, position: number): number {
    const beganMs = performance.now()
    let got = 0
    for (let bytes = -1; bytes !== 0 && got < into.length; got += bytes) bytes = readSync(fd, into, got, into.length - got, position + got)
    const nowMs = performance.now()
    this.#slow = this.#slow * fading + (nowMs - beganMs > slowReadMs ? 1 : 0)
    if (this.#slow > manySlow) {
      this.#slow = 0
      this.#slowUntilMs = nowMs + slowForMs
    }
    return got
  }
}

const damaged = (key: SegmentKey): CorruptContent => new CorruptContent(undefined, { details: { key: formatKey(key) } })
