export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

const share = (bytes: Uint8Array, offset: number): number => {
  let zeros = 0
  for (let at = offset; at < bytes.length; at += 2) if (bytes[at] === 0) zeros++
  return zeros / Math.max(1, bytes.length / 2)
}

const isUtf8 = (bytes: Uint8Array): boolean => {
  try {
    // A character may be cut off at the end of the sample.
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}

/** The encoding of a text: by its byte order mark, otherwise detected from its first bytes. */
export const encodingOf = (sample: Uint8Array): Encoding => {
  const [first, second] = sample
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (share(sample, 1) > 0.4) return 'utf-16le'
  if (share(sample, 0) > 0.4) return 'utf-16be'
  return isUtf8(sample) ? 'utf-8' : 'windows-1252'
}

/** Whether bytes are not text: text contains hardly any control characters. */
export const isBinary = (sample: Uint8Array): boolean => {
  const encoding = encodingOf(sample)
  // Zeros alone resemble UTF-16.
  const units = encoding.startsWith('utf-16')
    ? Array.from(new TextDecoder(encoding).decode(sample), unit => unit.charCodeAt(0))
    : [...sample]
  const controls = units.filter(unit => unit < 9 || (unit > 13 && unit < 27)).length
  return controls > units.length * 0.02
}
