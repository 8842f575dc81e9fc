import { createCipheriv, createDecipheriv } from 'node:crypto'
import { CorruptContent } from 'pounce/sdk'
import { keyIdBytes } from './encryption-keys.ts'

/*
 * An encrypted blob: a header (magic, ID of the key, salt), chunks of 64 KiB, each encrypted and authenticated separately, so that a range
 * can be read alone, and the SHA-256 of the content, also encrypted. The number of a chunk is its nonce, and the flag for the last one is
 * authenticated, so that chunks can be neither reordered nor cut off.
 */

const magic = Buffer.from('PNC-AES1', 'latin1')
export const saltBytes = 32
export const headerBytes = magic.length + keyIdBytes + saltBytes
export const chunkBytes = 65_536
const tagBytes = 16
const digestBytes = 32
export const digestPartBytes = digestBytes + tagBytes
export const storedChunkBytes = chunkBytes + tagBytes
/** Nonce of the digest: no blob has this many chunks. */
const digestNumber = 2 ** 48 - 1

export interface Header {
  readonly keyId: Buffer
  readonly salt: Buffer
}

export const writeHeader = ({ keyId, salt }: Header): Buffer => Buffer.concat([magic, keyId, salt])

/** Undefined for bytes that are not encrypted. */
export const readHeader = (bytes: Buffer): Header | undefined =>
  bytes.length === headerBytes && bytes.subarray(0, magic.length).equals(magic)
    ? { keyId: bytes.subarray(magic.length, magic.length + keyIdBytes), salt: bytes.subarray(magic.length + keyIdBytes) }
    : undefined

/** Number of chunks for a length in bytes; empty content has one empty chunk. */
export const chunksOf = (sizeBytes: number): number => Math.max(1, Math.ceil(sizeBytes / chunkBytes))

/** Length of the encrypted blob. */
export const storedBytes = (sizeBytes: number): number => headerBytes + sizeBytes + chunksOf(sizeBytes) * tagBytes + digestPartBytes

/** Length of the content of an encrypted blob; undefined for an impossible length. */
export const contentBytes = (stored: number): number | undefined => {
  const body = stored - headerBytes - digestPartBytes
  const sizeBytes = body - Math.ceil(body / storedChunkBytes) * tagBytes
  return body >= tagBytes && storedBytes(sizeBytes) === stored ? sizeBytes : undefined
}

const nonceOf = (number: number): Buffer => {
  const nonce = Buffer.alloc(12)
  nonce.writeUIntBE(number, 6, 6)
  return nonce
}

/** Encrypts one chunk: returns its bytes and tag separately, so that nothing is copied. */
export const sealChunk = (key: Buffer, number: number, isLast: boolean, plain: Uint8Array): readonly Buffer[] => {
  const cipher = createCipheriv('aes-256-gcm', key, nonceOf(number)).setAAD(Buffer.from([isLast ? 1 : 0]))
  const sealed = cipher.update(plain)
  cipher.final()
  return [sealed, cipher.getAuthTag()]
}

/** Decrypts one chunk. Throws `CorruptContent` when it was changed or moved, or is not the last one although it should be. */
export const openChunk = (key: Buffer, number: number, isLast: boolean, sealed: Buffer): Buffer => {
  const end = sealed.length - tagBytes
  if (end < 0) throw new CorruptContent()
  const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(number), { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from([isLast ? 1 : 0])).setAuthTag(sealed.subarray(end))
  const plain = decipher.update(sealed.subarray(0, end))
  try {
    decipher.final()
  } catch (error) {
    throw new CorruptContent(undefined, { cause: error })
  }
  return plain
}

export const sealDigest = (key: Buffer, sha256: Buffer): readonly Buffer[] => sealChunk(key, digestNumber, true, sha256)

/** The SHA-256 of the content. Throws `CorruptContent` when it was changed. */
export const openDigest = (key: Buffer, sealed: Buffer): Buffer => openChunk(key, digestNumber, true, sealed)
