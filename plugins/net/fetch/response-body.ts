import type { IncomingMessage } from 'node:http'
import type { Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { TooLarge, Unreachable } from 'pounce/sdk'
import { counting, type RequestDeadline } from './request-deadline.ts'

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

/** How much a compressed response may grow, as an archive may: beyond a size, by a factor. */
const [freeBytes, maxRatio] = [100 * 1024 * 1024, 100]

/** The body of a response, decoded: it ends with an error above a limit, or when the connection is interrupted. */
export const limited = (source: IncomingMessage, maxBytes: number, deadline: RequestDeadline, decoder?: Transform): Readable => {
  const counter = counting(maxBytes, deadline, `The answer is longer than ${maxBytes} bytes`)
  counter.on('close', () => {
    deadline.end()
    source.destroy()
    decoder?.destroy()
  })
  source.on('error', error => counter.destroy(new Unreachable(`The answer broke off: ${error.message}`, { cause: error })))
  source.on('aborted', () => counter.destroy(new Unreachable(deadline.isOver ? 'The response timed out' : 'The response was interrupted')))
  return decoder ? decoded(source, decoder, counter, deadline) : source.pipe(counter)
}

const decoded = (source: IncomingMessage, decoder: Transform, counter: Transform, deadline: RequestDeadline): Readable => {
  let [received, unpacked] = [0, 0]
  source.on('data', (chunk: Buffer) => {
    received += chunk.length
    deadline.received()
  })
  decoder.on('data', (chunk: Buffer) => {
    unpacked += chunk.length
    if (unpacked > freeBytes && unpacked > maxRatio * received)
      counter.destroy(new TooLarge(`The answer unpacks to more than ${maxRatio} times its size`))
  })
  decoder.on('error', error => counter.destroy(new Unreachable(`The answer cannot be decompressed: ${error.message}`, { cause: error })))
  return source.pipe(decoder).pipe(counter)
}
