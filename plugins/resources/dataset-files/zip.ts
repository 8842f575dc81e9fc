import type { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { type ByteRange, CorruptContent } from 'pounce/sdk'
import {
  descriptor,
  descriptorLength,
  directoryEntry,
  directoryEntryLength,
  end,
  endLength,
  localHeader,
  localHeaderLength,
  smallBytes,
  type ZipMember,
} from './zip-records.ts'

/** A file to put into a ZIP. */
export interface ZipEntry {
  /** Relative, with `/` between its parts. */
  readonly path: string
  readonly sizeBytes: number
  readonly modified: Date
  /** Its bytes, exactly `sizeBytes` of them; called once, in order but for small ones, which are opened a little ahead. */
  open(): Promise<Readable>
}

/** Small pieces are put together to about this much before they are handed on. */
const pieceBytes = 262_144
const aheadMembers = 16

const memberOf = ({ path, sizeBytes, modified }: ZipEntry): ZipMember => ({ name: Buffer.from(path), sizeBytes, modified })

/** How long the ZIP of these entries is, before a byte of them has been read: they are stored as they are. */
export const zipLength = (entries: readonly ZipEntry[]): number => {
  let at = 0
  let directoryBytes = 0
  for (const entry of entries) {
    const member = memberOf(entry)
    directoryBytes += directoryEntryLength(member, at)
    at += localHeaderLength(member) + entry.sizeBytes + descriptorLength(member)
  }
  return at + directoryBytes + endLength(entries.length, directoryBytes, at)
}

/** Reads small entries whole, some ahead of the one that is asked for. */
class SmallEntries {
  #entries: readonly ZipEntry[]
  #reading = new Map<number, Promise<Buffer>>()
  #next = 0

  constructor(entries: readonly ZipEntry[]) {
    this.#entries = entries
  }

  read(at: number): Promise<Buffer> {
    this.#next = Math.max(this.#next, at)
    for (; this.#next < Math.min(at + aheadMembers, this.#entries.length); this.#next++) {
      const entry = this.#entries[this.#next] as ZipEntry
      if (entry.sizeBytes > smallBytes) continue
      const bytes = whole(entry)
      // Whoever asks for it hears of a failure; when nobody does any more, nobody has to.
      bytes.catch(() => undefined)
      this.#reading.set(this.#next, bytes)
    }
    const bytes = this.#reading.get(at)
    this.#reading.delete(at)
    return bytes ?? Promise.reject(new RangeError(`entry ${at} was read before`))
  }
}

const whole = async (entry: ZipEntry): Promise<Buffer> => {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of (await entry.open()) as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > entry.sizeBytes) break
    chunks.push(chunk)
  }
  mustBe(length, entry)
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
}

const mustBe = (length: number, { path, sizeBytes }: ZipEntry): void => {
  if (length === sizeBytes) return
  throw new CorruptContent(undefined, { cause: new Error(`${path}: ${length} stored bytes instead of ${sizeBytes}`) })
}

/** Puts small pieces together, and counts what has passed. */
class Pieces {
  /** Bytes since the beginning. */
  at = 0
  #held: Buffer[] = []
  #heldBytes = 0

  add(...buffers: readonly Buffer[]): void {
    for (const buffer of buffers) {
      this.#held.push(buffer)
      this.#heldBytes += buffer.length
      this.at += buffer.length
    }
  }

  /** True when it is time to hand on what is held. */
  get isFull(): boolean {
    return this.#heldBytes >= pieceBytes
  }

  take(): Buffer {
    const piece = Buffer.concat(this.#held, this.#heldBytes)
    this.#held = []
    this.#heldBytes = 0
    return piece
  }
}

/** The header, bytes and descriptor of an entry too large to be held. Returns the checksum. */
async function* largeEntry(entry: ZipEntry, member: ZipMember, pieces: Pieces): AsyncGenerator<Buffer, number> {
  pieces.add(localHeader(member, 0))
  yield pieces.take()
  let crc = 0
  let length = 0
  for await (const chunk of (await entry.open()) as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > entry.sizeBytes) break
    crc = crc32(chunk, crc)
    pieces.at += chunk.length
    yield chunk
  }
  mustBe(length, entry)
  pieces.add(descriptor(member, crc))
  return crc
}

/**
 * A ZIP of the entries, stored without compression, as pieces. ZIP64 where sizes, offsets or numbers ask for it. Throws, and so never ends
 * as if it were whole, when an entry cannot be read or has another length than was said.
 */
export async function* zip(entries: readonly ZipEntry[]): AsyncGenerator<Buffer> {
  const small = new SmallEntries(entries)
  const directory: Buffer[] = []
  const listed = new Pieces()
  const pieces = new Pieces()
  for (const [index, entry] of entries.entries()) {
    const member = memberOf(entry)
    const start = pieces.at
    let crc: number
    if (entry.sizeBytes <= smallBytes) {
      const bytes = await small.read(index)
      crc = crc32(bytes)
      pieces.add(localHeader(member, crc), bytes)
    } else {
      crc = yield* largeEntry(entry, member, pieces)
    }
    listed.add(directoryEntry(member, crc, start))
    // Many small buffers would take several times the room of their bytes.
    if (listed.isFull) directory.push(listed.take())
    if (pieces.isFull) yield pieces.take()
  }
  const directoryAt = pieces.at
  for (const piece of [...directory, listed.take()]) {
    pieces.add(piece)
    if (pieces.isFull) yield pieces.take()
  }
  pieces.add(end(entries.length, pieces.at - directoryAt, directoryAt))
  yield pieces.take()
}

/** The part of a stream of pieces that a range names. What lies before it is made and dropped. */
export async function* cut(pieces: AsyncIterable<Buffer>, { start, end }: ByteRange): AsyncGenerator<Buffer> {
  let at = 0
  for await (const piece of pieces) {
    const from = Math.max(0, start - at)
    const to = Math.min(piece.length, end + 1 - at)
    at += piece.length
    if (from < to) yield piece.subarray(from, to)
    if (at > end) return
  }
}
