/**
 * A blob that is a file of its own: `f/<first two of random>/<time>-<random>-<length>-<sha256>`, numbers in base 36; or `b/…`: the beginning of a
 * file that grew on, under a name of its own.
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
  /** Where the entry's header begins. */
  readonly offset: number
  readonly sizeBytes: number
  /** Hex. */
  readonly sha256: string
}

export type BlobKey = FileKey | SegmentKey

// Canonical forms only: one key for each blob. Numbers have no leading zero, and a file's folder is the beginning of its random part.
const fileForm = /^([fb])\/([0-9a-f]{2})\/(0|[1-9a-z][0-9a-z]{0,10})-(\2[0-9a-f]{14})-(0|[1-9a-z][0-9a-z]{0,9})-([0-9a-f]{64})$/
const segmentForm = /^s\/([0-9a-f]{8})\/(0|[1-9a-z][0-9a-z]{0,5})-(0|[1-9a-z][0-9a-z]{0,3})-([0-9a-f]{64})$/

const base36 = (n: number): string => n.toString(36)

/** The key as callers keep it. */
export function formatKey(key: BlobKey): string {
  if (key.in === 'segment') return `s/${key.segment}/${base36(key.offset)}-${base36(key.sizeBytes)}-${key.sha256}`
  return `${key.in === 'file' ? 'f' : 'b'}/${key.random.slice(0, 2)}/${fileName(key)}`
}

/** The name of the file of a blob that has one; it says all that is known of the blob. */
export const fileName = (key: FileKey): string => `${base36(key.modified.getTime())}-${key.random}-${base36(key.sizeBytes)}-${key.sha256}`

/** What a key says, or undefined when this store never made it. Nothing else of a key ever reaches a path. */
export function parseKey(text: string): BlobKey | undefined {
  return parseFileKey(text) ?? parseSegmentKey(text)
}

function parseFileKey(text: string): FileKey | undefined {
  const [, kind, , time, random, size, sha256] = fileForm.exec(text) ?? []
  if (!time || !random || !size || !sha256) return undefined
  const modified = new Date(Number.parseInt(time, 36))
  // Eleven digits can be more than a date holds.
  if (Number.isNaN(modified.getTime())) return undefined
  return { in: kind === 'f' ? 'file' : 'beginning', modified, random, sizeBytes: Number.parseInt(size, 36), sha256 }
}

function parseSegmentKey(text: string): SegmentKey | undefined {
  const [, segment, offset, size, sha256] = segmentForm.exec(text) ?? []
  if (!segment || !offset || !size || !sha256) return undefined
  return { in: 'segment', segment, offset: Number.parseInt(offset, 36), sizeBytes: Number.parseInt(size, 36), sha256 }
}
