const encodingOf = ([first, second]: Uint8Array): string =>
  first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'

/** Decodes bytes as text in the detected encoding. */
export const textOf = (bytes: Uint8Array): string => new TextDecoder(encodingOf(bytes)).decode(bytes)
