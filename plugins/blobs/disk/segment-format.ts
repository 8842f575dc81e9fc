import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { readFully } from './disk.ts'

/** Header size in bytes: state, then the part covered by a checksum: magic, offset, length, time, SHA-256. */
export const headerBytes = 64

/** The first four bytes of a header. Removing an entry overwrites them in place, which no checksum covers. */
export const states = { live: Buffer.from('LIVE'), gone: Buffer.from('GONE') } as const

const magic = Buffer.from('PBS1')
const windowBytes = 256 * 1024

/** A parsed header. */
export interface SegmentEntry {
  /** Offset of the header in the segment; covered by the checksum, so that content that looks like a header is not taken for one. */
  readonly offset: number
  readonly sizeBytes: number
  readonly modified: Date
  /** Hex. */
  readonly sha256: string
}

/** A range of a segment: an entry, or bytes without a readable header. */
export interface SegmentRange extends SegmentEntry {
  readonly state: 'live' | 'gone' | 'damaged'
}

/** The header of an entry. */
export function encodeHeader(entry: SegmentEntry, state: 'live' | 'gone' = 'live'): Buffer {
  const header = Buffer.alloc(headerBytes)
  states[state].copy(header, 0)
  magic.copy(header, 4)
  header.writeUInt32LE(entry.offset, 8)
  header.writeUInt32LE(entry.sizeBytes, 12)
  header.writeDoubleLE(entry.modified.getTime(), 16)
  header.write(entry.sha256, 24, 'hex')
  header.writeUInt32LE(crc32(header.subarray(4, 60)), 60)
  return header
}

/** Parses the header expected at `offset` of the segment; `damaged` when it is invalid. */
export function decodeHeader(bytes: Buffer, offset: number): SegmentRange {
  const header = bytes.subarray(0, headerBytes)
  const isWhole =
    header.length === headerBytes &&
    header.subarray(4, 8).equals(magic) &&
    header.readUInt32LE(8) === offset &&
    header.readUInt32LE(60) === crc32(header.subarray(4, 60))
  if (!isWhole) return { state: 'damaged', offset, sizeBytes: 0, modified: new Date(0), sha256: '' }
  return {
    state: stateOf(header),
    offset,
    sizeBytes: header.readUInt32LE(12),
    modified: new Date(header.readDoubleLE(16)),
    sha256: header.toString('hex', 24, 56),
  }
}

function stateOf(header: Buffer): SegmentRange['state'] {
  if (header.subarray(0, 4).equals(states.live)) return 'live'
  return header.subarray(0, 4).equals(states.gone) ? 'gone' : 'damaged'
}

/** The ranges of a segment up to `end`, in order and without gaps. After damage it continues at the next readable header. */
export async function* walkSegment(file: FileHandle, end: number): AsyncGenerator<SegmentRange> {
  let window: Buffer = Buffer.alloc(0)
  let windowAt = 0
  const at = async (offset: number): Promise<Buffer> => {
    if (offset < windowAt || offset + headerBytes > windowAt + window.length) {
      const next = Buffer.allocUnsafe(Math.min(windowBytes, end - offset))
      windowAt = offset
      window = next.subarray(0, await readFully(file, next, offset))
    }
    return window.subarray(offset - windowAt)
  }
  let offset = 0
  while (offset < end) {
    const stretch = decodeHeader(await at(offset), offset)
    const next = offset + headerBytes + stretch.sizeBytes
    if (stretch.state !== 'damaged' && next <= end) {
      yield stretch
      offset = next
      continue
    }
    const found = await nextHeader(at, offset + 1, end)
    yield { ...stretch, state: 'damaged', sizeBytes: found - offset }
    offset = found
  }
}

async function nextHeader(at: (offset: number) => Promise<Buffer>, from: number, end: number): Promise<number> {
  let offset = from
  while (offset + headerBytes <= end) {
    const bytes = await at(offset)
    const hit = bytes.indexOf(magic, 4)
    if (hit === -1 || hit - 4 + headerBytes > bytes.length) {
      offset += Math.max(bytes.length - headerBytes + 1, 1)
      continue
    }
    const candidate = offset + hit - 4
    if (decodeHeader(bytes.subarray(hit - 4), candidate).sha256 !== '') return candidate
    offset = candidate + 1
  }
  return end
}
