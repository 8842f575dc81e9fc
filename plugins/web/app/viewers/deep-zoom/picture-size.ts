/** Bytes read to find the dimensions of a picture, which follow the metadata in photos. */
export const headerBytes = 262_144

export interface Size {
  readonly width: number
  readonly height: number
}

/** Width and height of a picture from its first bytes, without decoding it; undefined if not found. */
export const pictureSize = (bytes: Uint8Array): Size | undefined => {
  if (bytes.length < 30) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const text = (from: number, length: number): string => String.fromCharCode(...bytes.subarray(from, from + length))
  if (text(1, 3) === 'PNG') return { width: view.getUint32(16), height: view.getUint32(20) }
  if (text(0, 3) === 'GIF') return { width: view.getUint16(6, true), height: view.getUint16(8, true) }
  if (text(0, 2) === 'BM') return { width: Math.abs(view.getInt32(18, true)), height: Math.abs(view.getInt32(22, true)) }
  if (text(0, 4) === 'RIFF' && text(8, 4) === 'WEBP') return webpSize(view, text(12, 4))
  if (bytes[0] === 0xff && bytes[1] === 0xd8) return jpegSize(view)
  return undefined
}

const webpSize = (view: DataView, kind: string): Size | undefined => {
  const three = (at: number): number => view.getUint16(at, true) + (view.getUint8(at + 2) << 16)
  if (kind === 'VP8X') return { width: 1 + three(24), height: 1 + three(27) }
  if (kind === 'VP8 ') return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
  if (kind !== 'VP8L') return undefined
  const bits = view.getUint32(21, true)
  return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >> 14) & 0x3fff) }
}

/** The size is in the frame header, after any number of other segments. */
const jpegSize = (view: DataView): Size | undefined => {
  let at = 2
  while (at + 9 < view.byteLength) {
    if (view.getUint8(at) !== 0xff) return undefined
    const marker = view.getUint8(at + 1)
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2)
  }
  return undefined
}
