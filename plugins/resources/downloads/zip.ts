import type { ByteRange } from 'pounce/sdk'
import {
  aheadMembers,
  ChunkMerger,
  checksumOf,
  descriptorLength,
  directoryEntry,
  directoryEntryLength,
  end,
  endLength,
  localHeaderLength,
  memberOf,
  type ZipEntries,
  type ZipEntry,
  zipMembers,
} from './zip-members.ts'

/**
 * A ZIP of entries that are supplied while it is written, stored without compression, in chunks. Uses ZIP64 where sizes, offsets or counts
 * require it. Throws, and so never ends as if it were complete, when an entry cannot be read or has another length than declared.
 */
export async function* zip(entries: ZipEntries): AsyncGenerator<Buffer> {
  const directory: Buffer[] = []
  const listed = new ChunkMerger()
  const pieces = new ChunkMerger()
  let count = 0
  yield* zipMembers(entries, pieces, (member, crc, offset) => {
    count += 1
    listed.add(directoryEntry(member, crc, offset))
    // Many small buffers would take several times the memory of their bytes.
    if (listed.isFull) directory.push(listed.take())
  })
  const directoryAt = pieces.at
  for (const piece of [...directory, listed.take()]) {
    pieces.add(piece)
    if (pieces.isFull) yield pieces.take()
  }
  pieces.add(end(count, pieces.at - directoryAt, directoryAt))
  yield pieces.take()
}

/**
 * A ZIP of entries that are all known in advance: its length is known before any bytes are read, and any range of it can be generated
 * separately.
 */
export class ZipWithKnownLength {
  readonly sizeBytes: number
  readonly #entries: readonly ZipEntry[]
  /** The offset of each member, followed by that of the directory. */
  readonly #offsets: Float64Array
  readonly #checksums: Uint32Array
  readonly #directoryBytes: number

  constructor(entries: readonly ZipEntry[]) {
    this.#entries = entries
    this.#offsets = new Float64Array(entries.length + 1)
    this.#checksums = new Uint32Array(entries.length)
    let at = 0
    let directoryBytes = 0
    for (const [index, entry] of entries.entries()) {
      const member = memberOf(entry)
      this.#offsets[index] = at
      directoryBytes += directoryEntryLength(member, at)
      at += localHeaderLength(member) + entry.sizeBytes + descriptorLength(member)
    }
    this.#offsets[entries.length] = at
    this.#directoryBytes = directoryBytes
    this.sizeBytes = at + directoryBytes + endLength(entries.length, directoryBytes, at)
  }

  /** The chunks; can be called once. Bytes before a range are not read unless the directory at the end needs their checksums. */
  pieces(range?: ByteRange): AsyncGenerator<Buffer> {
    return range ? this.#part(range) : this.#from(0, this.#entries.length)
  }

  async *#part({ start, end }: ByteRange): AsyncGenerator<Buffer> {
    const first = this.#memberAt(start)
    const last = this.#memberAt(end)
    let at = this.#offsets[first] as number
    for await (const piece of this.#from(first, Math.min(last + 1, this.#entries.length), last === this.#entries.length)) {
      const from = Math.max(0, start - at)
      const to = Math.min(piece.length, end + 1 - at)
      at += piece.length
      if (from < to) yield piece.subarray(from, to)
      if (at > end) return
    }
  }

  async *#from(first: number, behind: number, withDirectory = true): AsyncGenerator<Buffer> {
    const pieces = new ChunkMerger(this.#offsets[first])
    let index = first
    yield* zipMembers([this.#entries.slice(first, behind)], pieces, (_member, crc) => {
      this.#checksums[index] = crc
      index += 1
    })
    if (withDirectory) {
      await this.#readChecksums(first)
      for (const [at, entry] of this.#entries.entries()) {
        pieces.add(directoryEntry(memberOf(entry), this.#checksums[at] as number, this.#offsets[at] as number))
        if (pieces.isFull) yield pieces.take()
      }
      pieces.add(end(this.#entries.length, this.#directoryBytes, this.#offsets[this.#entries.length] as number))
    }
    yield pieces.take()
  }

  async #readChecksums(count: number): Promise<void> {
    let index = 0
    for await (const [, checksum] of ahead(this.#entries.slice(0, count), aheadMembers, checksumOf)) {
      this.#checksums[index] = checksum
      index += 1
    }
  }

  /** The member that a byte offset belongs to; the number of members for an offset in the directory. */
  #memberAt(byte: number): number {
    let low = 0
    let high = this.#entries.length
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#offsets[middle] as number) <= byte) low = middle
      else high = middle - 1
    }
    return low
  }
}

/** Processes items in order, some ahead of the one that is returned. */
export async function* ahead<T, R>(items: Iterable<T>, count: number, work: (item: T) => Promise<R>): AsyncGenerator<readonly [T, R]> {
  const waiting: { readonly item: T; readonly result: Promise<R> }[] = []
  for (const item of items) {
    const result = work(item)
    // The consumer of the item receives the failure; without a consumer it is ignored.
    result.catch(() => undefined)
    waiting.push({ item, result })
    const first = waiting.length > count ? waiting.shift() : undefined
    if (first) yield [first.item, await first.result]
  }
  for (const { item, result } of waiting) yield [item, await result]
}
