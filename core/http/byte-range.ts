import type { ByteRange } from 'pounce/sdk'

/**
 * Reads a `Range` header against a known length: the part, `'whole'` when the header is absent, not in bytes or names several parts
 * (which we may answer with everything), `'none'` when no byte of it exists.
 */
export const rangeOf = (header: string | undefined, sizeBytes: number): ByteRange | 'whole' | 'none' => {
  const [, first = '', last = ''] = /^bytes=\s*(\d*)\s*-\s*(\d*)\s*$/.exec(header ?? '') ?? []
  if (first === '' && last === '') return 'whole'
  if (first === '') {
    const length = Math.min(Number(last), sizeBytes)
    return length === 0 ? 'none' : { start: sizeBytes - length, end: sizeBytes - 1 }
  }
  const start = Number(first)
  const end = last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1)
  if (last !== '' && Number(last) < start) return 'whole'
  return start >= sizeBytes ? 'none' : { start, end }
}
