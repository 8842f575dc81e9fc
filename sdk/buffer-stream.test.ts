import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import { streamed } from './buffer-stream.ts'

const textOf = async (pieces: Parameters<typeof streamed>[0]): Promise<string> => {
  let text = ''
  for await (const piece of streamed(pieces)) text += String(piece)
  return text
}

test('chunks of a list and of a generator arrive in order', async t => {
  async function* later() {
    for (const piece of ['a', 'b', '', 'c']) yield Buffer.from(piece)
  }
  t.is(await textOf(['a', 'b', '', 'c']), 'abc')
  t.is(await textOf(later()), 'abc')
  t.is(await textOf([]), '')
})

test('no more chunks are produced than requested', async t => {
  let made = 0
  let isLeft = false
  async function* endless() {
    try {
      for (;;) {
        made += 1
        yield 'piece'
      }
    } finally {
      isLeft = true
    }
  }
  const stream = streamed(endless(), 3)
  await once(stream, 'readable')
  await new Promise(setImmediate)
  t.true(made <= 4, `${made} chunks`)
  stream.destroy()
  await once(stream, 'close')
  t.true(isLeft)
})

test('a failure in the middle is the error of the stream, after the chunks before it', async t => {
  const seen: string[] = []
  async function* broken() {
    yield 'first'
    throw new Error('the source broke')
  }
  const error = await t.throwsAsync(async () => {
    for await (const piece of streamed(broken())) seen.push(String(piece))
  })
  t.is(error?.message, 'the source broke')
  t.deepEqual(seen, ['first'])
})

test('a stream that was read is freed by the next minor garbage collection', async t => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: { readonly type: 'minor' | 'major' }) => void
  const heapNow = (type: 'minor' | 'major'): number => {
    for (let n = 0; n < 3; n++) collect({ type })
    return process.memoryUsage().heapUsed
  }
  async function* pieces(text: string) {
    yield text
    yield text
  }
  const read = async (times: number): Promise<void> => {
    for (let n = 0; n < times; n++) {
      const held = new Array(1000).fill(n)
      const stream = streamed(pieces('piece'))
      stream.on('data', () => held.push(n)).on('end', () => held.push(n))
      await once(stream, 'close')
    }
  }
  await read(500)
  const before = heapNow('major')
  await read(1000)
  const grown = (heapNow('minor') - before) / 1000
  t.true(grown < 4000, `${grown} bytes of each are retained`)
})
