import type { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { CorruptContent } from 'pounce/sdk'
import { descriptor, localHeader, smallBytes, type ZipMember } from './zip-records.ts'

/** A file to put into a ZIP. */
export interface ZipEntry {
  /** Relative, with `/` between its parts. */
  readonly path: string
  readonly sizeBytes: number
  readonly modified: Date
  /** Its bytes, exactly `sizeBytes` of them, as they are or as a stream; called in order, but small ones a little ahead. */
  open(): Promise<Readable | Buffer>
  /** Its CRC-32 where that can be told without reading. Whoever tells it answers for it: the bytes are not summed up again. */
  checksum?(): Promise<number | undefined>
}

export type ZipEntries = Iterable<ZipEntry> | AsyncIterable<ZipEntry>

/** Small pieces are put together to about this much before they are handed on. */
const pieceBytes = 262_144
export const aheadMembers = 16

export const memberOf = ({ path, sizeBytes, modified }: ZipEntry): ZipMember => ({ name: Buffer.from(path), sizeBytes, modified })

const mustBe = (length: number, { path, sizeBytes }: ZipEntry): void => {
  if (length === sizeBytes) return
  throw new CorruptContent(undefined, { cause: new Error(`${path}: ${length} stored bytes instead of ${sizeBytes}`) })
}

const whole = async (entry: ZipEntry): Promise<Buffer> => {
  const opened = await entry.open()
  if (Buffer.isBuffer(opened)) {
    mustBe(opened.length, entry)
    return opened
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

/** An entry with its bytes, when they are few enough to have been read already. */
interface ReadEntry {
  readonly entry: ZipEntry
  readonly bytes?: Promise<Buffer>
}

/** Reads small entries whole, some ahead of the one that is handed out. */
async function* readAhead(entries: ZipEntries): AsyncGenerator<ReadEntry> {
  const source = Symbol.asyncIterator in entries ? entries[Symbol.asyncIterator]() : entries[Symbol.iterator]()
  const waiting: ReadEntry[] = []
  let isOver = false
  try {
    for (;;) {
      while (!isOver && waiting.length < aheadMembers) {
        const next = await source.next()
        if (next.done) isOver = true
        else waiting.push(begun(next.value))
      }
      const first = waiting.shift()
      if (!first) return
      yield first
    }
  } finally {
    await source.return?.(undefined)
  }
}

const begun = (entry: ZipEntry): ReadEntry => {
  if (entry.sizeBytes > smallBytes) return { entry }
  const bytes = whole(entry)
  // Whoever asks for it hears of a failure; when nobody does any more, nobody has to.
  bytes.catch(() => undefined)
  return { entry, bytes }
}

/** Puts small pieces together, and counts what has passed. */
export class ChunkMerger {
  /** Bytes since the beginning. */
  at: number
  #held: Buffer[] = []
  #heldBytes = 0

  constructor(at = 0) {
    this.at = at
  }

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

/** The records and bytes of entries one after the other; `written` hears of each when it has passed. */
export async function* zipMembers(
  entries: ZipEntries,
  pieces: ChunkMerger,
  written: (member: ZipMember, crc: number, offset: number) => void,
): AsyncGenerator<Buffer> {
  for await (const { entry, bytes: reading } of readAhead(entries)) {
    const member = memberOf(entry)
    const offset = pieces.at
    let crc: number
    if (reading) {
      const bytes = await reading
      crc = crc32(bytes)
      pieces.add(localHeader(member, crc), bytes)
    } else {
      crc = yield* largeMember(entry, member, pieces)
    }
    written(member, crc, offset)
    if (pieces.isFull) yield pieces.take()
  }
}

/** The checksum of an entry's bytes, for who needs nothing else of it. */
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
