import { crc32, deflateRawSync } from 'node:zlib'

/** One entry of a small archive. `fields` overrides fields of the central directory, for invalid archives. */
export interface ZipEntry {
  readonly name: string
  readonly bytes: Uint8Array
  readonly fields?: { readonly sizeBytes?: number; readonly compressedBytes?: number; readonly unixMode?: number; readonly flags?: number }
}

const dosDate = ((2026 - 1980) << 9) | (3 << 5) | 14
const dosTime = (9 << 11) | (26 << 5)
/** The flag for UTF-8 names; other names are in the DOS code page. */
const utf8Names = 0x0800

/** A ZIP archive, deflated, each entry dated 2026-03-14 09:26. The output is deterministic. */
export function zip(entries: readonly ZipEntry[]): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const entry of entries) {
    const name = Buffer.from(entry.name)
    const packed = deflateRawSync(entry.bytes)
    const shared = Buffer.alloc(26)
    shared.writeUInt16LE(20, 0)
    shared.writeUInt16LE(entry.fields?.flags ?? utf8Names, 2)
    shared.writeUInt16LE(8, 4)
    shared.writeUInt16LE(dosTime, 6)
    shared.writeUInt16LE(dosDate, 8)
    shared.writeUInt32LE(crc32(entry.bytes), 10)
    shared.writeUInt32LE(entry.fields?.compressedBytes ?? packed.length, 14)
    shared.writeUInt32LE(entry.fields?.sizeBytes ?? entry.bytes.length, 18)
    shared.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), shared, name, packed])
    directory.push(centralHeader(shared, name, offset, entry.fields?.unixMode ?? 0o100644))
    parts.push(local)
    offset += local.length
  }
  const central = Buffer.concat(directory)
  return Buffer.concat([...parts, central, endRecord(entries.length, central.length, offset)])
}

function centralHeader(shared: Buffer, name: Buffer, offset: number, unixMode: number): Buffer {
  const head = Buffer.alloc(6)
  head.write('PK\x01\x02', 'latin1')
  head.writeUInt16LE((3 << 8) | 20, 4)
  const tail = Buffer.alloc(14)
  tail.writeUInt32LE((unixMode << 16) >>> 0, 6)
  tail.writeUInt32LE(offset, 10)
  return Buffer.concat([head, shared, tail, name])
}

function endRecord(entries: number, directoryBytes: number, offset: number): Buffer {
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(entries, 8)
  end.writeUInt16LE(entries, 10)
  end.writeUInt32LE(directoryBytes, 12)
  end.writeUInt32LE(offset, 16)
  return end
}
