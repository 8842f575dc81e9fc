import test from 'ava'
import { growsLinearly } from 'pounce/sdk/testing'
import { maskKeys, maskQueue } from './mask-keys.ts'

test('keys in extractor messages are masked wherever they occur', t => {
  const key = 'e1e1865a-60e0-cf7f-cb8e-432c8ad6aac7'
  const texts = [
    `503 Server Error: no for url: http://h/api/files/1?key=${key}`,
    `url: /api/files/1/metadata?key=${key} (Caused by x)`,
    `?key=${key}&x=1`,
    `?x=1&KEY=${key}`,
    `http%3A%2F%2Fh%2Fapi?key%3D${key}`,
    `{'secretKey': '${key}', 'id': 1}`,
    `{"secretKey":"${key}"}`,
    `{\\"secretKey\\":\\"${key}\\"}`,
    `{'X-API-Key': b'${key}'}`,
    `X-API-Key: ${key}`,
    `key=${key}`,
  ]
  for (const text of texts) {
    t.false(maskKeys(text).includes(key), text)
    t.true(maskKeys(text).includes('secretKey'), text)
  }
  t.is(maskKeys(`a?key=${key}&b=2 c`), 'a?key=secretKey&b=2 c')
  const jobKey = `job_${'aB-_9'.repeat(22)}`
  t.is(
    maskKeys(`['classify', '${jobKey}'] ?key=${jobKey}&b /tmp/${jobKey}.log`),
    `['classify', 'secretKey'] ?key=secretKey&b /tmp/secretKey.log`,
  )
})

test('other text is unchanged', t => {
  for (const text of [
    'monkey business',
    'unknown key: foo',
    'the keyboard=x',
    "KeyError: 'b'",
    'a = b',
    'job_6b0d5878d3c8bd2113000000 failed',
  ])
    t.is(maskKeys(text), text)
})

test('masking takes linear time', t => {
  for (const piece of ['key', 'job_', 'key=', '"key" ', '\\"', 'a-', "key'    :   "])
    t.true(
      growsLinearly(size => maskKeys(piece.repeat(size / piece.length)), 200_000),
      piece,
    )
})

test('the queue of a private extractor is masked as a whole, since its key may contain dots', t => {
  t.is(maskQueue('private.K9.x.its.name'), 'private')
  t.is(maskQueue('ncsa.file.digest'), 'ncsa.file.digest')
})
