import type { IncomingHttpHeaders } from 'node:http'
import { encodeExtended } from 'content-disposition'
import type { ByteRange, Bytes } from 'pounce/sdk'
import parseRange from 'range-parser'

/**
 * Reads a `Range` header against a known length: the part, `'whole'` when the header is absent, not in bytes or names several parts
 * (which we may answer with everything), `'none'` when no byte of it exists.
 */
export const rangeOf = (header: string | undefined, sizeBytes: number): ByteRange | 'whole' | 'none' => {
  if (!header?.startsWith('bytes=') || header.includes(',')) return 'whole'
  const found = parseRange(sizeBytes, header)
  if (found === -2) return 'whole'
  return found === -1 ? withoutRange(header, sizeBytes) : (found[0] ?? 'whole')
}

/** Two cases that range-parser takes for unsatisfiable: RFC 9110 gives the last 500 of 200 bytes in full (14.1.2) and ignores `5-2` (14.1.1). */
const withoutRange = (header: string, sizeBytes: number): ByteRange | 'whole' | 'none' => {
  const [first = '', last = ''] = header
    .slice('bytes='.length)
    .split('-')
    .map(each => each.trim())
  if (first === '' && sizeBytes > 0 && Number(last) > sizeBytes) return { start: 0, end: sizeBytes - 1 }
  return first !== '' && last !== '' && Number(last) < Number(first) ? 'whole' : 'none'
}

/** Seconds: HTTP dates have no parts of them. */
const seconds = (date: Date): number => Math.floor(date.getTime() / 1000)

/** Always a strong one: the same bytes. */
export const etagOf = ({ sha256, etag }: Bytes): string | undefined => {
  const tag = sha256 ?? etag
  return tag === undefined ? undefined : `"${tag}"`
}

const entityTags = /(W\/)?("[^"]*")/g

/** Whether a list of tags has this one; a weak one counts only where that will do. */
const names = (header: string, etag: string | undefined, weakWillDo: boolean): boolean =>
  header.trim() === '*' || [...header.matchAll(entityTags)].some(([, weak, tag]) => tag === etag && (weakWillDo || weak === undefined))

/** `If-Match` and `If-Unmodified-Since`: the client wants these bytes and no others. */
export const isOther = (headers: IncomingHttpHeaders, bytes: Bytes): boolean => {
  const known = headers['if-match']
  if (known !== undefined) return !names(known, etagOf(bytes), false)
  const since = Date.parse(headers['if-unmodified-since'] ?? '')
  return bytes.lastModified !== undefined && seconds(bytes.lastModified) > Math.floor(since / 1000)
}

export const isUnchanged = (headers: IncomingHttpHeaders, bytes: Bytes): boolean => {
  const known = headers['if-none-match']
  if (known !== undefined) return names(known, etagOf(bytes), true)
  const since = headers['if-modified-since']
  return since !== undefined && bytes.lastModified !== undefined && seconds(bytes.lastModified) <= seconds(new Date(since))
}

/** `If-Range`: a part is only of use to a client that holds the rest of the same bytes. */
export const rangeStillHolds = (headers: IncomingHttpHeaders, bytes: Bytes): boolean => {
  const condition = headers['if-range']
  if (typeof condition !== 'string') return true
  if (condition.startsWith('"')) return condition.trim() === etagOf(bytes)
  return bytes.lastModified !== undefined && seconds(bytes.lastModified) === seconds(new Date(condition))
}

/**
 * RFC 6266: how to save the bytes, and under which name. Names outside ASCII come twice: with `_` for old programs, and in full as
 * `filename*`. A name is no path: slashes become `_`, as recipients would have it (section 4.3). Quotes are always there, which the library leaves
 * away where it can: scripts look for `filename="`.
 */
export const contentDisposition = (kind: 'inline' | 'attachment', filename: string | undefined): string => {
  if (filename === undefined || filename === '') return kind
  const name = filename.toWellFormed().replaceAll(/[\p{Cc}/\\]/gu, '_')
  const fallback = name.replaceAll(/[^\x20-\x7e]/gu, '_').replaceAll(/["%]/g, '_')
  if (fallback === name) return `${kind}; filename="${name}"`
  return `${kind}; filename="${fallback}"; filename*=${encodeExtended(name)}`
}

/** True of text that may stand as a media type in a header. */
export const isMediaType = (text: string): boolean =>
  /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;\s*[\w!#$&^.+-]+=(?:[\w!#$&^.+-]+|"[^"\\\p{Cc}]*"))*$/u.test(text)
