import { createHash, type Hash } from 'node:crypto'
import { Invalid, type PutOptions, TooLarge } from 'pounce/sdk'
import { partBytes } from './layout.ts'
import type { PartBuffer } from './part-buffer.ts'
import { S3BlockChecksums } from './s3-block-checksums.ts'

/** What is known when all bytes have come. */
export interface Received {
  readonly sizeBytes: number
  /** Hex. */
  readonly sha256: string
  readonly sums: Uint32Array
  /** The last part, not sent yet; the only one of a small blob. */
  readonly lastPart: PartBuffer
}

/** What receiving works with. */
export interface Receiving {
  newPart(): PartBuffer
  /** Takes a part that is full when more bytes are there. */
  send(part: PartBuffer): Promise<void>
}

/** Cuts a stream into parts, with the digest of the whole and the checksum of each block. Compares with what was announced. */
export async function receive(
  source: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array>,
  options: PutOptions,
  { newPart, send }: Receiving,
): Promise<Received> {
  const whole = createHash('sha256')
  const sums = new S3BlockChecksums()
  let sizeBytes = 0
  let number = 1
  let part = newPart()
  try {
    for await (const chunk of source as AsyncIterable<Uint8Array | string>) {
      let rest = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      sizeBytes += rest.length
      if (sizeBytes > (options.sizeBytes ?? sizeBytes)) throw wrongSize(options, 'more')
      whole.update(rest)
      sums.update(rest)
      while (rest.length > 0) {
        if (part.sizeBytes === lengthOf(number)) {
          const full = part
          part = newPart()
          number += 1
          await send(full)
        }
        const piece = rest.subarray(0, lengthOf(number) - part.sizeBytes)
        await part.add(piece)
        rest = rest.subarray(piece.length)
      }
    }
    if (sizeBytes < (options.sizeBytes ?? sizeBytes)) throw wrongSize(options, `only ${sizeBytes}`)
    return { sizeBytes, sha256: digestOf(whole, options), sums: sums.finish(), lastPart: part }
  } catch (error) {
    await part.dispose()
    throw error
  }
}

function lengthOf(number: number): number {
  const length = partBytes(number)
  if (length === undefined) throw new TooLarge('The file is larger than the maximum size of an S3 object')
  return length
}

const wrongSize = (options: PutOptions, got: string): Invalid => new Invalid(`Expected ${options.sizeBytes} bytes, but there were ${got}`)

function digestOf(hash: Hash, { sha256: announced }: PutOptions): string {
  const sha256 = hash.digest('hex')
  if (announced !== undefined && announced.toLowerCase() !== sha256)
    throw new Invalid(`The bytes have the SHA-256 ${sha256}, not ${announced} as announced`)
  return sha256
}
