import type { ReadBytes } from './table-source.ts'

export const isGzip = ([first, second]: Uint8Array): boolean => first === 0x1f && second === 0x8b

/** Why a compressed file is shown only in part: it exceeds the memory limit, or is damaged from there on. */
export type UnpackedCut = 'size' | 'damage'

/** Compressed bytes are processed in pieces of this size. */
const pieceBytes = 1_000_000
const headerBytes = 10
/** Of a member: its header, an empty block and the checksum. */
const minMemberBytes = 18

/** How often a member is tried with another end. */
const maxAttempts = 20

/** The operating systems that headers name. */
const maxSystem = 13
const unknownSystem = 255

const isHeader = (bytes: Uint8Array, at: number): boolean => {
  const [flags = 0xff, speed = 0xff, system = 0] = [bytes[at + 3], bytes[at + 8], bytes[at + 9]]
  return (
    bytes[at + 1] === 0x8b &&
    bytes[at + 2] === 8 &&
    flags < 0x20 &&
    (speed === 0 || speed === 2 || speed === 4) &&
    (system <= maxSystem || system === unknownSystem)
  )
}

/** Where the header of a member may begin in some bytes. */
const headerIn = (bytes: Uint8Array, from: number): number | undefined => {
  for (let at = bytes.indexOf(0x1f, from); at >= 0 && at + headerBytes <= bytes.length; at = bytes.indexOf(0x1f, at + 1))
    if (isHeader(bytes, at)) return at
  return undefined
}

/** The bytes of a file, read in large pieces. */
class PackedFile {
  readonly sizeBytes: number
  #read: ReadBytes
  #piece = new Uint8Array()
  #start = 0

  constructor(read: ReadBytes, sizeBytes: number) {
    this.#read = read
    this.sizeBytes = sizeBytes
  }

  /** The bytes from a position on, as many as have been read; none at the end. */
  async from(position: number): Promise<Uint8Array> {
    const end = this.#start + this.#piece.length
    if (position < this.#start || (end < this.sizeBytes && position + headerBytes > end)) {
      this.#piece = new Uint8Array(await this.#read(position, Math.min(this.sizeBytes, position + pieceBytes)))
      this.#start = position
    }
    return this.#piece.subarray(position - this.#start)
  }
}

/** A member of a gzip file, up to where the header of the next one may begin, which is not before `from`. */
class Member {
  readonly packed: ReadableStream<Uint8Array<ArrayBuffer>>
  /** Where the next one begins; undefined for the last one. */
  next: number | undefined

  constructor(file: PackedFile, start: number, from: number) {
    let position = start
    this.packed = new ReadableStream({
      pull: async controller => {
        const bytes = await file.from(position)
        const isLast = bytes.length === 0 || position + bytes.length >= file.sizeBytes
        const header = headerIn(bytes, Math.max(0, from - position))
        // A header can begin in one piece and end in the next.
        const length = header ?? (isLast ? bytes.length : bytes.length - headerBytes + 1)
        if (header !== undefined) this.next = position + header
        if (length > 0) controller.enqueue(bytes.slice(0, length) as Uint8Array<ArrayBuffer>)
        position += length
        if (header !== undefined || isLast) controller.close()
      },
    })
  }
}

/** Unpacks a gzip file up to a size, also one of several members, as programs that append to it or compress it in blocks write it. Rejects if nothing can be read. */
export const unpackedOf = async (
  read: ReadBytes,
  sizeBytes: number,
  maxBytes: number,
): Promise<{ bytes: Uint8Array; cut: UnpackedCut | undefined }> => {
  const file = new PackedFile(read, sizeBytes)
  const pieces: Uint8Array[] = []
  let length = 0
  let cut: UnpackedCut | undefined
  let [start, from, attempts] = [0, minMemberBytes, 0]
  while (cut === undefined && start < sizeBytes) {
    const before = { pieces: pieces.length, length }
    const member = new Member(file, start, from)
    try {
      for await (const piece of member.packed.pipeThrough(new DecompressionStream('gzip'))) {
        pieces.push(piece.subarray(0, maxBytes - length))
        length += piece.length
        if (length > maxBytes) {
          cut = 'size'
          break
        }
      }
      start = member.next ?? sizeBytes
      from = start + minMemberBytes
      attempts = 0
    } catch (error) {
      // A rejection by the server is not an error of the file.
      if (!(error instanceof TypeError)) throw error
      attempts++
      if (member.next === undefined || attempts === maxAttempts) {
        if (length === 0) throw error
        cut = 'damage'
      } else {
        // What looked like a header was compressed data.
        from = member.next + 1
        pieces.length = before.pieces
        length = before.length
      }
    }
  }
  const bytes = new Uint8Array(Math.min(length, maxBytes))
  let to = 0
  for (const piece of pieces) {
    bytes.set(piece, to)
    to += piece.length
  }
  return { bytes, cut }
}
