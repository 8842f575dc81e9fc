import type { IncomingMessage } from 'node:http'
import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'

/** Content codings of RFC 9110, 8.4.1, and of RFC 7932 and 8878. */
const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}

/** Of a compressed file, servers state its compression as the coding too: it stays compressed, as browsers do it. */
const compressedType = /^application\/(?:x-)?(?:gzip|gunzip|gtar|tgz|gtar-compressed|compressed|zstd|brotli)\b/i
const compressedName = /\.(?:gz|tgz|br|zst|svgz)$/i

/**
 * Servers may compress although they are requested not to, such as stores whose objects are compressed. Undefined if the body is to be read as it is;
 * unknown codings are ignored, as by browsers.
 */
export const decoderOf = ({ headers }: IncomingMessage, { pathname }: URL): Transform | undefined => {
  const coding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (compressedType.test(headers['content-type'] ?? '') || compressedName.test(pathname)) return undefined
  return Object.hasOwn(decoders, coding) ? decoders[coding]?.() : undefined
}
