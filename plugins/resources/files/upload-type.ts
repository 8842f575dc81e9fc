import { buffer } from 'node:stream/consumers'
import type { BlobStore } from 'pounce/sdk'
import { type IncomingFile, mediaTypeOf } from 'pounce/sdk/kit'
import type { BlobInfo } from 'pounce/sdk/store-kit'

/* The layout is that of PKWARE's APPNOTE 6.3.10, 4.3.12 to 4.3.16. */
const endBytes = 22
const locatorBytes = 20
const end64Bytes = 56
const entryBytes = 46
const maxCommentBytes = 65_535
const maxDirectoryBytes = 1024 * 1024

interface Directory {
  readonly start: number
  readonly sizeBytes: number
}

const read = async (blobs: BlobStore, { key, sizeBytes }: BlobInfo, start: number, length: number): Promise<Buffer | undefined> => {
  const end = Math.min(start + length, sizeBytes) - 1
  if (start < 0 || end < start) return undefined
  const stream = await blobs.get(key, { start, end })
  return stream && (await buffer(stream))
}

const directoryOf = async (blobs: BlobStore, bytes: BlobInfo): Promise<Directory | undefined> => {
  const tailStart = Math.max(0, bytes.sizeBytes - endBytes - maxCommentBytes)
  const tail = await read(blobs, bytes, tailStart, endBytes + maxCommentBytes)
  const at = tail?.lastIndexOf('PK\x05\x06', undefined, 'latin1') ?? -1
  if (!tail || at === -1 || at + endBytes > tail.length) return undefined
  const directory = { sizeBytes: tail.readUInt32LE(at + 12), start: tail.readUInt32LE(at + 16) }
  if (directory.start !== 0xffffffff && directory.sizeBytes !== 0xffffffff) return directory
  const locator = at - locatorBytes
  if (locator < 0 || tail.toString('latin1', locator, locator + 4) !== 'PK\x06\x07') return undefined
  const end64 = await read(blobs, bytes, Number(tail.readBigUInt64LE(locator + 8)), end64Bytes)
  if (end64?.length !== end64Bytes || end64.toString('latin1', 0, 4) !== 'PK\x06\x06') return undefined
  return { sizeBytes: Number(end64.readBigUInt64LE(40)), start: Number(end64.readBigUInt64LE(48)) }
}

/**
 * The names in a ZIP archive, in the order of its directory; undefined when it is not a ZIP. Nothing is decompressed, and at most the first
 * 1 MiB of the directory is read, so a ZIP bomb costs no more than a harmless archive.
 */
const zipNames = async (blobs: BlobStore, bytes: BlobInfo): Promise<readonly string[] | undefined> => {
  const directory = await directoryOf(blobs, bytes)
  if (!directory) return undefined
  const list =
    directory.sizeBytes === 0
      ? Buffer.alloc(0)
      : await read(blobs, bytes, directory.start, Math.min(directory.sizeBytes, maxDirectoryBytes))
  if (!list) return undefined
  const names: string[] = []
  for (let at = 0; at + entryBytes <= list.length; ) {
    if (list.toString('latin1', at, at + 4) !== 'PK\x01\x02') return undefined
    const nameEnd = at + entryBytes + list.readUInt16LE(at + 28)
    if (nameEnd > list.length) break
    names.push(list.toString('utf8', at + entryBytes, nameEnd))
    at = nameEnd + list.readUInt16LE(at + 30) + list.readUInt16LE(at + 32)
  }
  return names
}

/** Media types of archives by the first significant file name in them (Clowder 1.x, fileutils/FilesUtils). */
const zipped: readonly (readonly [sign: RegExp, type: string])[] = [
  [/\.x3d$/i, 'model/x3d-zipped'],
  [/\.obj$/i, 'model/obj-zipped'],
  [/\.lp$/i, 'imageset/ptmimages-zipped'],
  [/\.sfmdataset$/i, 'model/sfm-zipped'],
  [/__slides/i, 'multi/video-presentation-zipped'],
]

const zippedType = (names: readonly string[]): string => {
  for (const name of names) {
    const [, type] = name.endsWith('/') ? [] : (zipped.find(([sign]) => sign.test(name)) ?? [])
    if (type !== undefined) return type
  }
  return 'multi/files-zipped'
}

/**
 * The media type of a file, without parameters. That of an archive depends on the names in it; only its list of names is read, up to the
 * first megabyte. An unreadable one stays `application/zip`.
 */
export const fileTypeOf = async (
  blobs: BlobStore,
  { name, contentType, blob: { bytes } }: Pick<IncomingFile, 'name' | 'contentType' | 'blob'>,
): Promise<string> => {
  const declared = contentType?.split(';')[0]?.trim().toLowerCase()
  const type = await mediaTypeOf(blobs, { name, bytes, ...(declared === undefined ? {} : { contentType: declared }) })
  if (!/^application\/(?:x-)?zip(?:-compressed)?$/.test(type)) return type
  const names = await zipNames(blobs, bytes)
  return names === undefined ? type : zippedType(names)
}
