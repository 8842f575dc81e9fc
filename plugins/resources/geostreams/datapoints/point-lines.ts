import { isUtf8 } from 'node:buffer'
import { ByteBuffer } from './byte-buffer.ts'
import type { Refused } from './read-point.ts'

/** The text of one datapoint, and its place among them, from 1. */
export type SentPoint = { readonly line: number } & ({ readonly text: string } | { readonly refused: Refused })

const newline = 0x0a
const maxLineBytes = 1024 * 1024
const tooLong: Refused = { message: `A line has at most ${maxLineBytes} bytes` }
const notUtf8: Refused = { message: 'It is not UTF-8' }

function* linesIn(bytes: Buffer): Generator<Buffer> {
  let from = 0
  for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, from)) {
    yield bytes.subarray(from, at)
    from = at + 1
  }
  yield bytes.subarray(from)
}

const textOf = (bytes: Buffer): string | Refused =>
  bytes.length > maxLineBytes ? tooLong : isUtf8(bytes) ? bytes.toString('utf8') : notUtf8

/** All at once where nothing is wrong with any. */
const textsOf = (bytes: Buffer): readonly (string | Refused)[] =>
  bytes.length <= maxLineBytes && isUtf8(bytes) ? bytes.toString('utf8').split('\n') : [...linesIn(bytes)].map(textOf)

/**
 * The lines of a body as they come, some at a time; blank ones are left out, and counted. No more than a line, of 1 MiB at most, is in memory
 * besides what came last. A body that breaks off fails when its complete lines have been given out; what stands after the last newline counts only at the
 * very end.
 */
export async function* pointLines(body: AsyncIterable<Buffer>): AsyncGenerator<readonly SentPoint[]> {
  const carry = new ByteBuffer()
  let line = 0
  let isTooLong = false
  const given = (bytes: Buffer): readonly SentPoint[] =>
    textsOf(bytes).flatMap((text, at): readonly SentPoint[] => {
      line += 1
      if (at === 0 && isTooLong) {
        isTooLong = false
        return [{ line, refused: tooLong }]
      }
      if (typeof text !== 'string') return [{ line, refused: text }]
      const bare = line === 1 && text.startsWith('\ufeff') ? text.slice(1) : text
      return bare.trim() === '' ? [] : [{ line, text: bare }]
    })
  for await (const chunk of body) {
    const end = chunk.lastIndexOf(newline)
    if (end !== -1) {
      carry.add(chunk.subarray(0, end))
      yield given(carry.take())
    }
    carry.add(chunk.subarray(end + 1))
    if (carry.length <= maxLineBytes) continue
    isTooLong = true
    carry.take()
  }
  if (carry.length > 0 || isTooLong) yield given(carry.take())
}
