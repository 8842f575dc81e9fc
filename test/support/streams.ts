import { createCipheriv, createHash, type Hash } from 'node:crypto'

const pieceBytes = 1024 * 1024

/** Pseudo-random bytes, determined by a seed, in chunks of 1 MiB. */
export async function* noise(sizeBytes: number, seed: string): AsyncGenerator<Buffer<ArrayBuffer>> {
  const key = createHash('sha256').update(seed).digest()
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16))
  const zeros = Buffer.alloc(pieceBytes)
  for (let left = sizeBytes; left > 0; left -= pieceBytes) yield cipher.update(zeros.subarray(0, Math.min(left, pieceBytes)))
}

/** The SHA-256 of a stream in hex, and its length. Holds one chunk in memory at a time. */
export const digestOf = async (source: AsyncIterable<Uint8Array>): Promise<{ readonly sha256: string; readonly sizeBytes: number }> => {
  const hash: Hash = createHash('sha256')
  let sizeBytes = 0
  for await (const piece of source) {
    hash.update(piece)
    sizeBytes += piece.length
  }
  return { sha256: hash.digest('hex'), sizeBytes }
}

/** A multipart body with one file, generated while it is sent. */
export const streamedForm = (filename: string, contentType: string, source: AsyncIterable<Uint8Array>): RequestInit => {
  const boundary = 'pounce-test-boundary'
  async function* parts(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="File"; filename="${filename}"\r\nContent-Type: ${contentType}\r\n\r\n`,
    )
    yield* source
    yield Buffer.from(`\r\n--${boundary}--\r\n`)
  }
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
  // Node's fetch accepts an iterable as the body; the DOM types lack that and `duplex`.
  return { method: 'POST', headers, body: parts() as unknown as ReadableStream, duplex: 'half' } as RequestInit
}

/** The largest measured value while the work is running. */
export const peakDuring = async <T>(measure: () => Promise<number>, work: Promise<T>): Promise<{ peak: number; result: T }> => {
  let peak = await measure()
  const timer = setInterval(async () => {
    peak = Math.max(peak, await measure())
  }, 10)
  try {
    const result = await work
    return { result, peak }
  } finally {
    clearInterval(timer)
  }
}
