import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'

/** Names of the WHATWG Encoding Standard. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

/** The apparent encoding of a text, from its first bytes. */
export interface Guess {
  readonly encoding: Encoding
  readonly hasByteOrderMark: boolean
}

const sampleBytes = 64 << 10

/** Detects a text's encoding; undefined when the bytes are not text. UTF-8 is an assumption until everything has been read. */
export async function guessEncoding(path: string): Promise<Guess | undefined> {
  await using file = await open(path)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(sampleBytes), 0, sampleBytes, 0)
  const head = buffer.subarray(0, bytesRead)
  const mark = head.toString('latin1', 0, 4)
  if (mark.startsWith('\xef\xbb\xbf')) return { encoding: 'utf-8', hasByteOrderMark: true }
  if (mark === '\xff\xfe\0\0' || mark === '\0\0\xfe\xff') return undefined
  if (mark.startsWith('\xff\xfe')) return { encoding: 'utf-16le', hasByteOrderMark: true }
  if (mark.startsWith('\xfe\xff')) return { encoding: 'utf-16be', hasByteOrderMark: true }
  const encoding = byZeros(head)
  return encoding && { encoding, hasByteOrderMark: false }
}

/** Western text in UTF-16 has a zero in every other byte; text in other encodings has none. */
function byZeros(head: Buffer): Encoding | undefined {
  let [even, odd] = [0, 0]
  for (let at = head.indexOf(0); at !== -1; at = head.indexOf(0, at + 1)) {
    if (at % 2 === 0) even++
    else odd++
  }
  if (even + odd === 0) return 'utf-8'
  const many = head.length * 0.3
  if (odd > many && even < many / 20) return 'utf-16le'
  if (even > many && odd < many / 20) return 'utf-16be'
  return undefined
}

/** Streams a file as text. Throws a TypeError at the first bytes that are invalid in the encoding; windows-1252 accepts all bytes. */
export async function* decoded(path: string, encoding: Encoding, signal: AbortSignal): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true })
  for await (const chunk of createReadStream(path, { highWaterMark: 256 << 10, signal })) yield decoder.decode(chunk, { stream: true })
  yield decoder.decode()
}
