import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import test from 'ava'
import { runExtractor, temporaryFile, testFile } from '../../../test/support/run-extractor.ts'
import { extract } from './extract.ts'

test('digests and size match the bytes of the file', async t => {
  const path = testFile('photo.jpg')
  const bytes = await readFile(path)
  const { metadata } = await runExtractor(t, extract, path)
  t.deepEqual(metadata, {
    sha256: createHash('sha256').update(bytes).digest('hex'),
    sha512: createHash('sha512').update(bytes).digest('hex'),
    md5: createHash('md5').update(bytes).digest('hex'),
    sizeBytes: bytes.length,
  })
})

test('an empty file has the digests of empty input', async t => {
  const { metadata } = await runExtractor(t, extract, testFile('empty.bin'))
  t.is(metadata?.sha256, 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  t.is(metadata?.md5, 'd41d8cd98f00b204e9800998ecf8427e')
  t.is(metadata?.sizeBytes, 0)
})

test('a file larger than one read is hashed completely', async t => {
  const bytes = Buffer.alloc((5 << 20) + 17, 'pounce')
  const { metadata } = await runExtractor(t, extract, await temporaryFile(t, 'big.bin', bytes))
  t.is(metadata?.sha256, createHash('sha256').update(bytes).digest('hex'))
})

test('a truncated file is reported as such', async t => {
  const path = await temporaryFile(t, 'short.bin', 'abc')
  await t.throwsAsync(runExtractor(t, extract, path, { sizeBytes: 10 }), { message: 'The file has 3 bytes, but 10 were expected.' })
})

test('a cancelled run stops', async t => {
  const path = await temporaryFile(t, 'some.bin', 'abc')
  await t.throwsAsync(runExtractor(t, extract, path, { signal: AbortSignal.abort() }), { name: 'AbortError' })
})
