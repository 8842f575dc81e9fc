/**
 * A blob in a file of its own: `f/<first two of random>/<time>-<random>-<length>-<sha256>`, numbers in base 36; or `b/…`: a prefix of a
 * file that has grown since, under a name of its own.
 */
export interface FileKey {
  readonly in: 'file' | 'beginning'
  readonly modified: Date
  /** 16 hex digits. */
  readonly random: string
  readonly sizeBytes: number
  /** Hex. */
  readonly sha256: string
}

/** A blob inside a segment: `s/<segment>/<offset>-<length>-<sha256>`, numbers in base 36. */
export interface SegmentKey {
  readonly in: 'segment'
  /** 8 hex digits: the file's name without its ending. */
  readonly segment: string
  /** Offset of the entry's header. */
  readonly offset: number
  readonly sizeBytes: number
  /** Hex. */
  readonly sha256: string
}

export type BlobKey = FileKey | SegmentKey

// Canonical forms only, so that each blob has one key: numbers without leading zeros, and the folder is a prefix of the random part.
const fileForm = /^([fb])\/([0-9a-f]{2})\/(0|[1-9a-z][0-9a-z]{0,10})-(\2[0-9a-f]{14})-(0|[1-9a-z][0-9a-z]{0,9})-([0-9a-f]{64})$/
const segmentForm = /^s\/([0-9a-f]{8})\/(0|[1-9a-z][0-9a-z]{0,5})-(0|[1-9a-z][0-9a-z]{0,3})-([0-9a-f]{64})$/

const base36 = (n: number): string => n.toString(36)

/** The key as stored by callers. */
export function formatKey(key: BlobKey): string {
  if (key.in === 'segment') return `s/${key.segment}/${base36(key.offset)}-${base36(key.sizeBytes)}-${key.sha256}`
  return `${key.in === 'file' ? 'f' : 'b'}/${key.random.slice(0, 2)}/${fileName(key)}`
}

/** The file name of such a blob; it contains everything known about the blob. */
export const fileName = (key: FileKey): string => `${base36(key.modified.getTime())}-${key.random}-${base36(key.sizeBytes)}-${key.sha256}`

/** Parses a key; undefined when this store never created it. Nothing else of a key is used in a path. */
export function parseKey(text: string): BlobKey | undefined {
  return parseFileKey(text) ?? parseSegmentKey(text)
}

function parseFileKey(text: string): FileKey | undefined {
  const [, kind, , time, random, size, sha256] = fileForm.exec(text) ?? []
  if (!time || !random || !size || !sha256) return undefined
  const modified = new Date(Number.parseInt(time, 36))
  // Eleven digits can exceed the range of a date.
  if (Number.isNaN(modified.getTime())) return undefined
  return { in: kind === 'f' ? 'file' : 'beginning', modified, random, sizeBytes: Number.parseInt(size, 36), sha256 }
}

function parseSegmentKey(text: string): SegmentKey | undefined {
  const [, segment, offset, size, sha256] = segmentForm.exec(text) ?? []
  if (!segment || !offset || !size || !sha256) return undefined
  return { in: 'segment', segment, offset: Number.parseInt(offset, 36), sizeBytes: Number.parseInt(size, 36), sha256 }
}
