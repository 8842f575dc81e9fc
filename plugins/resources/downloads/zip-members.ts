import type { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { CorruptContent } from 'pounce/sdk'
import { BufferStream } from 'pounce/sdk/kit'

/** Where 32-bit fields end and ZIP64 begins (APPNOTE 6.3.10, 4.4). */
const max32 = 0xffff_ffff

const max16 = 0xffff

/** Members up to this many bytes are read whole, so that their header can carry the checksum. */
const smallBytes = 65_536

const isUtf8 = 0x0800

const hasDescriptor = 0x0008

const madeByUnix = 3 << 8

const dosFolder = 0x10

const slash = 0x2f

/** The fields of a member's records. `crc` and `offset` are known once its bytes have been written. */
interface ZipMember {
  readonly name: Buffer
  readonly sizeBytes: number
  readonly modified: Date
}

const isBig = ({ sizeBytes }: ZipMember): boolean => sizeBytes >= max32

const isSmall = ({ sizeBytes }: ZipMember): boolean => sizeBytes <= smallBytes

const flagsOf = (member: ZipMember): number => (isSmall(member) ? isUtf8 : isUtf8 | hasDescriptor)

/** Two 16-bit words; ZIP has years from 1980 to 2107. */
const dosTime = (date: Date): { readonly time: number; readonly day: number } => {
  const year = Math.min(Math.max(date.getUTCFullYear(), 1980), 2107)
  return {
    time: (date.getUTCHours() << 11) | (date.getUTCMinutes() << 5) | (date.getUTCSeconds() >> 1),
    day: ((year - 1980) << 9) | ((date.getUTCMonth() + 1) << 5) | date.getUTCDate(),
  }
}

/** From Node's pool: `Buffer.alloc` would create an `ArrayBuffer` for each record. */
const zeros = (length: number): Buffer => Buffer.allocUnsafe(length).fill(0)

export const localHeaderLength = (member: ZipMember): number => 30 + member.name.length + (isBig(member) ? 20 : 0)

/** The header before a member's bytes. A member with a descriptor has its checksum there and zeros here. */
const localHeader = (member: ZipMember, crc: number): Buffer => {
  const header = zeros(localHeaderLength(member))
  const { time, day } = dosTime(member.modified)
  const size = isSmall(member) ? member.sizeBytes : isBig(member) ? max32 : 0
  header.writeUInt32LE(0x04034b50, 0)
  header.writeUInt16LE(isBig(member) ? 45 : 20, 4)
  header.writeUInt16LE(flagsOf(member), 6)
  header.writeUInt16LE(time, 10)
  header.writeUInt16LE(day, 12)
  header.writeUInt32LE(isSmall(member) ? crc : 0, 14)
  header.writeUInt32LE(size, 18)
  header.writeUInt32LE(size, 22)
  header.writeUInt16LE(member.name.length, 26)
  header.writeUInt16LE(isBig(member) ? 20 : 0, 28)
  member.name.copy(header, 30)
  if (isBig(member)) {
    // Both sizes are mandatory here; the descriptor has the true ones.
    header.writeUInt16LE(1, 30 + member.name.length)
    header.writeUInt16LE(16, 32 + member.name.length)
  }
  return header
}

export const descriptorLength = (member: ZipMember): number => (isSmall(member) ? 0 : isBig(member) ? 24 : 16)

/** The record after the bytes of a member that is not small. */
const descriptor = (member: ZipMember, crc: number): Buffer => {
  const record = Buffer.alloc(descriptorLength(member))
  record.writeUInt32LE(0x08074b50, 0)
  record.writeUInt32LE(crc, 4)
  if (isBig(member)) {
    record.writeBigUInt64LE(BigInt(member.sizeBytes), 8)
    record.writeBigUInt64LE(BigInt(member.sizeBytes), 16)
  } else {
    record.writeUInt32LE(member.sizeBytes, 8)
    record.writeUInt32LE(member.sizeBytes, 12)
  }
  return record
}

const extraLength = (member: ZipMember, offset: number): number => {
  const long = (isBig(member) ? 16 : 0) + (offset >= max32 ? 8 : 0)
  return long === 0 ? 0 : 4 + long
}

export const directoryEntryLength = (member: ZipMember, offset: number): number => 46 + member.name.length + extraLength(member, offset)

/** A member's entry in the directory at the end. */
export const directoryEntry = (member: ZipMember, crc: number, offset: number): Buffer => {
  const extra = extraLength(member, offset)
  const entry = zeros(directoryEntryLength(member, offset))
  const { time, day } = dosTime(member.modified)
  const size = Math.min(member.sizeBytes, max32)
  const version = extra > 0 ? 45 : 20
  entry.writeUInt32LE(0x02014b50, 0)
  entry.writeUInt16LE(madeByUnix | version, 4)
  entry.writeUInt16LE(version, 6)
  entry.writeUInt16LE(flagsOf(member), 8)
  entry.writeUInt16LE(time, 12)
  entry.writeUInt16LE(day, 14)
  entry.writeUInt32LE(crc, 16)
  entry.writeUInt32LE(size, 20)
  entry.writeUInt32LE(size, 24)
  entry.writeUInt16LE(member.name.length, 28)
  entry.writeUInt16LE(extra, 30)
  // Writable by the owner and readable by all: a regular file, or a folder.
  const isFolder = member.name[member.name.length - 1] === slash
  entry.writeUInt32LE(isFolder ? ((0o040755 << 16) | dosFolder) >>> 0 : (0o100644 << 16) >>> 0, 38)
  entry.writeUInt32LE(Math.min(offset, max32), 42)
  member.name.copy(entry, 46)
  if (extra > 0) writeExtra(entry, 46 + member.name.length, member, offset)
  return entry
}

const writeExtra = (entry: Buffer, start: number, member: ZipMember, offset: number): void => {
  let at = start
  entry.writeUInt16LE(1, at)
  entry.writeUInt16LE(extraLength(member, offset) - 4, at + 2)
  at += 4
  if (isBig(member)) {
    entry.writeBigUInt64LE(BigInt(member.sizeBytes), at)
    entry.writeBigUInt64LE(BigInt(member.sizeBytes), at + 8)
    at += 16
  }
  if (offset >= max32) entry.writeBigUInt64LE(BigInt(offset), at)
}

const needsZip64 = (count: number, directoryBytes: number, directoryAt: number): boolean =>
  count >= max16 || directoryBytes >= max32 || directoryAt >= max32

export const endLength = (count: number, directoryBytes: number, directoryAt: number): number =>
  needsZip64(count, directoryBytes, directoryAt) ? 56 + 20 + 22 : 22

/** The records that close a ZIP. */
export const end = (count: number, directoryBytes: number, directoryAt: number): Buffer => {
  const record = Buffer.alloc(endLength(count, directoryBytes, directoryAt))
  let at = 0
  if (record.length > 22) {
    record.writeUInt32LE(0x06064b50, 0)
    record.writeBigUInt64LE(44n, 4)
    record.writeUInt16LE(madeByUnix | 45, 12)
    record.writeUInt16LE(45, 14)
    record.writeBigUInt64LE(BigInt(count), 24)
    record.writeBigUInt64LE(BigInt(count), 32)
    record.writeBigUInt64LE(BigInt(directoryBytes), 40)
    record.writeBigUInt64LE(BigInt(directoryAt), 48)
    record.writeUInt32LE(0x07064b50, 56)
    record.writeBigUInt64LE(BigInt(directoryAt + directoryBytes), 64)
    record.writeUInt32LE(1, 72)
    at = 76
  }
  record.writeUInt32LE(0x06054b50, at)
  record.writeUInt16LE(Math.min(count, max16), at + 8)
  record.writeUInt16LE(Math.min(count, max16), at + 10)
  record.writeUInt32LE(Math.min(directoryBytes, max32), at + 12)
  record.writeUInt32LE(Math.min(directoryAt, max32), at + 16)
  return record
}

/** A file to put into a ZIP. */
export interface ZipEntry {
  /** Relative, with `/` between its parts. */
  readonly path: string
  readonly sizeBytes: number
  readonly modified: Date
  /** Its bytes, exactly `sizeBytes` of them, as a buffer or stream. Called in order, but slightly ahead for small entries. */
  open(): Buffer | Promise<Readable | Buffer>
  /** Its CRC-32 if known without reading. It is not verified. */
  checksum?(): Promise<number | undefined>
}

/** In batches: passing each of several small entries through a chain of generators would cost as much as reading them. */
export type ZipEntries = Iterable<readonly ZipEntry[]> | AsyncIterable<readonly ZipEntry[]>

/** Small chunks are joined up to about this size before they are written. */
const pieceBytes = 262_144

export const aheadMembers = 16

export const memberOf = ({ path, sizeBytes, modified }: ZipEntry): ZipMember => ({ name: Buffer.from(path), sizeBytes, modified })

const mustBe = (length: number, { path, sizeBytes }: ZipEntry): void => {
  if (length === sizeBytes) return
  throw new CorruptContent(undefined, { cause: new Error(`${path}: ${length} stored bytes instead of ${sizeBytes}`) })
}

const whole = (entry: ZipEntry): Buffer | Promise<Buffer> => {
  const opened = entry.open()
  if (!Buffer.isBuffer(opened)) return received(entry, opened)
  mustBe(opened.length, entry)
  return opened
}

const received = async (entry: ZipEntry, opening: Promise<Readable | Buffer>): Promise<Buffer> => {
  const opened = await opening
  if (Buffer.isBuffer(opened) || opened instanceof BufferStream) {
    const bytes = Buffer.isBuffer(opened) ? opened : opened.bytes
    mustBe(bytes.length, entry)
    return bytes
  }
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of opened as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > entry.sizeBytes) break
    chunks.push(chunk)
  }
  mustBe(length, entry)
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
}

/** An entry, with its bytes if they are few enough to have been read already. */
interface ReadEntry {
  readonly entry: ZipEntry
  readonly bytes?: Buffer | Promise<Buffer>
}

/** Reads small entries whole, some ahead of those that are returned. */
async function* readAhead(entries: ZipEntries): AsyncGenerator<readonly ReadEntry[]> {
  let waiting: ReadEntry[] = []
  for await (const batch of entries) {
    for (let at = 0; at < batch.length; at += aheadMembers / 2) {
      const reading = batch.slice(at, at + aheadMembers / 2).map(begun)
      if (waiting.length > 0) yield waiting
      waiting = reading
    }
  }
  yield waiting
}

const begun = (entry: ZipEntry): ReadEntry => {
  if (entry.sizeBytes > smallBytes) return { entry }
  const bytes = whole(entry)
  // The reader of the entry receives the failure; without a reader it is ignored.
  if (!Buffer.isBuffer(bytes)) bytes.catch(() => undefined)
  return { entry, bytes }
}

/** Joins small chunks, and counts the bytes written. */
export class ChunkMerger {
  /** Bytes written so far. */
  at: number
  #buffers: Buffer[] = []
  #bufferedBytes = 0

  constructor(at = 0) {
    this.at = at
  }

  add(...buffers: readonly Buffer[]): void {
    for (const buffer of buffers) {
      this.#buffers.push(buffer)
      this.#bufferedBytes += buffer.length
      this.at += buffer.length
    }
  }

  /** True when the buffered bytes should be written. */
  get isFull(): boolean {
    return this.#bufferedBytes >= pieceBytes
  }

  take(): Buffer {
    const piece = Buffer.concat(this.#buffers, this.#bufferedBytes)
    this.#buffers = []
    this.#bufferedBytes = 0
    return piece
  }
}

/** The header, bytes and descriptor of an entry too large to be buffered. Returns the checksum. */
async function* largeMember(entry: ZipEntry, member: ZipMember, pieces: ChunkMerger): AsyncGenerator<Buffer, number> {
  pieces.add(localHeader(member, 0))
  yield pieces.take()
  const opened = await entry.open()
  const known = await entry.checksum?.()
  let crc = known ?? 0
  let length = 0
  for await (const chunk of (Buffer.isBuffer(opened) ? [opened] : opened) as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > entry.sizeBytes) break
    if (known === undefined) crc = crc32(chunk, crc)
    pieces.at += chunk.length
    yield chunk
  }
  mustBe(length, entry)
  pieces.add(descriptor(member, crc))
  return crc
}

/** The records and bytes of entries in order; `written` is called for each one once it has been written. */
export async function* zipMembers(
  entries: ZipEntries,
  pieces: ChunkMerger,
  written: (member: ZipMember, crc: number, offset: number) => void,
): AsyncGenerator<Buffer> {
  for await (const read of readAhead(entries)) {
    for (const { entry, bytes: reading } of read) {
      const member = memberOf(entry)
      const offset = pieces.at
      let crc: number
      if (reading) {
        const bytes = Buffer.isBuffer(reading) ? reading : await reading
        crc = crc32(bytes)
        pieces.add(localHeader(member, crc), bytes)
      } else {
        crc = yield* largeMember(entry, member, pieces)
      }
      written(member, crc, offset)
      if (pieces.isFull) yield pieces.take()
    }
  }
}

/** The checksum of an entry's bytes, for callers that need nothing else. */
export const checksumOf = async (entry: ZipEntry): Promise<number> => {
  const known = await entry.checksum?.()
  if (known !== undefined) return known
  let crc = 0
  let length = 0
  const opened = await entry.open()
  for await (const chunk of (Buffer.isBuffer(opened) ? [opened] : opened) as AsyncIterable<Buffer>) {
    length += chunk.length
    crc = crc32(chunk, crc)
  }
  mustBe(length, entry)
  return crc
}
