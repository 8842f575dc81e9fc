import { crc32 } from 'node:zlib'
import { encodeSums } from './s3-block-checksums.ts'

const magic = 'pounce-1'
/** What comes before the sums. */
export const headerBytes = 64

/** What the header says of the blob. */
export interface SumsHeader {
  readonly sizeBytes: number
  /** Hex. */
  readonly sha256: string
}

/** The object beside a blob made from parts: magic, length, SHA-256 and their CRC-32 in 64 bytes, then the sums of all blocks. */
export function encodeSumsFile({ sizeBytes, sha256 }: SumsHeader, sums: Uint32Array): Buffer {
  const header = Buffer.alloc(headerBytes)
  header.write(magic, 'latin1')
  header.writeBigUInt64LE(BigInt(sizeBytes), 8)
  header.write(sha256, 16, 'hex')
  header.writeUInt32LE(crc32(header.subarray(0, 48)), 48)
  return Buffer.concat([header, encodeSums(sums)])
}

/** Undefined when this is no such header. */
export function decodeSumsHeader(bytes: Buffer): SumsHeader | undefined {
  if (bytes.length < headerBytes || bytes.toString('latin1', 0, 8) !== magic) return undefined
  if (crc32(bytes.subarray(0, 48)) !== bytes.readUInt32LE(48)) return undefined
  return { sizeBytes: Number(bytes.readBigUInt64LE(8)), sha256: bytes.toString('hex', 16, 48) }
}
