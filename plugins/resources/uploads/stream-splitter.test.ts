import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import test from 'ava'
import fc from 'fast-check'
import { StreamSplitter } from './stream-splitter.ts'

const ignore = (): void => undefined

const all = async (pieces: StreamSplitter): Promise<Buffer[]> => {
  const found: Buffer[] = []
  for (let piece = await pieces.next(); piece; piece = await pieces.next()) found.push(await buffer(piece))
  return found
}

test('pieces have the requested length, except the last one, and add up to the whole', async t => {
  const property = fc.asyncProperty(
    fc.array(fc.uint8Array({ minLength: 1, maxLength: 20 }), { maxLength: 20 }),
    fc.integer({ min: 1, max: 30 }),
    async (chunks, most) => {
      const source = chunks.map(chunk => Buffer.from(chunk))
      const found = await all(new StreamSplitter(Readable.from(source, { objectMode: false }), most, ignore))
      const isCut = found.every((piece, at) => piece.length === most || (at === found.length - 1 && piece.length > 0))
      return isCut && Buffer.concat(found).equals(Buffer.concat(source))
    },
  )
  await t.notThrowsAsync(async () => fc.assert(property, { numRuns: 200 }))
})

test('a failing source ends its piece with the received bytes, and the error is reported', async t => {
  const source = Readable.from(
    (async function* () {
      yield Buffer.from('abc')
      throw new Error('gone')
    })(),
    { objectMode: false },
  )
  const pieces = new StreamSplitter(source, 10, ignore)
  t.deepEqual(await all(pieces), [Buffer.from('abc')])
  t.like(pieces.fault, { message: 'gone' })
})

test('the observer may end a piece with an error', async t => {
  const pieces = new StreamSplitter(Readable.from([Buffer.from('abc')], { objectMode: false }), 10, () => {
    throw new Error('too much')
  })
  const piece = await pieces.next()
  await t.throwsAsync(buffer(piece ?? Readable.from([])), { message: 'too much' })
})
