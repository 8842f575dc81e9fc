import { buffer } from 'node:stream/consumers'
import type { BlobInfo, BlobStore } from './ports/blob-store.ts'

const unknownType = 'application/octet-stream'

/** The bytes with which files of a type begin. */
interface Signature {
  readonly type: string
  readonly pieces: readonly (readonly [at: number, bytes: Buffer])[]
}

const signature = (type: string, ...pieces: readonly (readonly [at: number, bytes: string])[]): Signature => ({
  type,
  pieces: pieces.map(([at, bytes]) => [at, Buffer.from(bytes, 'latin1')] as const),
})

/* Excludes types that a browser would execute: those are only recognized by file name. */
const signatures: readonly Signature[] = [
  signature('image/png', [0, '\x89PNG\r\n\x1a\n']),
  signature('image/jpeg', [0, '\xff\xd8\xff']),
  signature('image/gif', [0, 'GIF8']),
  signature('image/webp', [0, 'RIFF'], [8, 'WEBP']),
  signature('image/tiff', [0, 'II*\0']),
  signature('image/tiff', [0, 'MM\0*']),
  signature('image/jp2', [4, 'jP  \r\n\x87\n']),
  signature('application/pdf', [0, '%PDF-']),
  signature('application/zip', [0, 'PK\x03\x04']),
  signature('application/gzip', [0, '\x1f\x8b']),
  signature('application/x-bzip2', [0, 'BZh']),
  signature('application/x-7z-compressed', [0, "7z\xbc\xaf'\x1c"]),
  signature('video/quicktime', [4, 'ftypqt  ']),
  signature('audio/mp4', [4, 'ftypM4A ']),
  signature('video/mp4', [4, 'ftyp']),
  signature('video/webm', [0, '\x1a\x45\xdf\xa3']),
  signature('video/x-msvideo', [0, 'RIFF'], [8, 'AVI ']),
  signature('audio/wav', [0, 'RIFF'], [8, 'WAVE']),
  signature('audio/ogg', [0, 'OggS']),
  signature('audio/flac', [0, 'fLaC']),
  signature('audio/mpeg', [0, 'ID3']),
  signature('application/x-hdf5', [0, '\x89HDF\r\n\x1a\n']),
  signature('application/x-netcdf', [0, 'CDF\x01']),
  signature('application/x-netcdf', [0, 'CDF\x02']),
  signature('application/xml', [0, '<?xml ']),
]

const longestSignature = Math.max(...signatures.flatMap(({ pieces }) => pieces.map(([at, bytes]) => at + bytes.length)))

/** The media type detected from the first bytes of a file; undefined when unknown. */
export const typeOfBytes = (first: Buffer): string | undefined =>
  signatures.find(({ pieces }) => pieces.every(([at, bytes]) => first.subarray(at, at + bytes.length).equals(bytes)))?.type

/** The media type for a file name extension. */
const typeOfName = async (name: string): Promise<string | undefined> => {
  if (!name.includes('.')) return undefined
  // Loaded on first use: it has thousands of entries.
  const { lookup } = await import('mime-types')
  const found = lookup(name)
  return found && found !== unknownType ? found : undefined
}

const isUsable = (declared: string): boolean => {
  const [type = ''] = declared.split(';')
  return /^[\w.+-]+\/[\w.+-]+$/.test(type.trim()) && type.trim().toLowerCase() !== unknownType
}

/**
 * The media type of an uploaded file: the declared one; if absent or `application/octet-stream`, by file name extension; otherwise by its first bytes.
 * `application/octet-stream` when undetermined.
 */
export const mediaTypeOf = async (
  blobs: Pick<BlobStore, 'get'>,
  {
    name,
    contentType,
    bytes,
  }: { readonly name: string; readonly contentType?: string; readonly bytes: Pick<BlobInfo, 'key' | 'sizeBytes'> },
): Promise<string> => {
  if (contentType !== undefined && isUsable(contentType)) return contentType
  const named = await typeOfName(name)
  if (named !== undefined || bytes.sizeBytes === 0) return named ?? unknownType
  const stream = await blobs.get(bytes.key, { start: 0, end: Math.min(longestSignature, bytes.sizeBytes) - 1 })
  return (stream && typeOfBytes(await buffer(stream))) ?? unknownType
}
