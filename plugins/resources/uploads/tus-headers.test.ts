import test from 'ava'
import fc from 'fast-check'
import { Invalid, Problem } from 'pounce/sdk'
import { bytesIn, checksumIn, metadataIn, requireTus } from './tus-headers.ts'

const encoded = (pairs: readonly (readonly [string, string])[]): string =>
  pairs.map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`).join(',')

test('encoded metadata is decoded to the same values', t => {
  const key = fc.stringMatching(/^[!-+\--~]{1,20}$/)
  const pairs = fc.uniqueArray(fc.tuple(key, fc.string({ unit: 'grapheme' })), { selector: ([name]) => name, maxLength: 8 })
  t.notThrows(() =>
    fc.assert(
      fc.property(
        pairs,
        some => metadataIn(encoded(some)).size === some.length && some.every(([k, v]) => metadataIn(encoded(some)).get(k) === v),
      ),
    ),
  )
  t.deepEqual(
    [...metadataIn('a,b YQ')],
    [
      ['a', ''],
      ['b', 'a'],
    ],
  )
  t.is(metadataIn(' ').size, 0)
})

test('any metadata header is either parsed or refused', t => {
  const read = (header: string): boolean => {
    try {
      metadataIn(header)
      return true
    } catch (error) {
      return error instanceof Invalid
    }
  }
  t.notThrows(() => fc.assert(fc.property(fc.string({ maxLength: 200 }), read)))
  for (const wrong of ['a !', 'a YQ== x', ',', 'ä YQ==', 'a YQ==,a YQ==', 'a /w=='])
    t.throws(() => metadataIn(wrong), { instanceOf: Invalid }, wrong)
})

test('byte counts must be non-negative safe integers', t => {
  const offset = (text: string) => bytesIn({ 'upload-offset': text }, 'upload-offset')
  t.is(offset('0'), 0)
  t.is(offset('9007199254740991'), Number.MAX_SAFE_INTEGER)
  t.is(bytesIn({}, 'upload-length'), undefined)
  for (const wrong of ['', ' ', '-1', '1.5', '1e3', '0x10', '9007199254740992', '1, 2', 'NaN'])
    t.throws(() => offset(wrong), { instanceOf: Invalid }, wrong)
})

test('a checksum must name a supported algorithm', t => {
  t.deepEqual(checksumIn({ 'upload-checksum': 'sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0=' }), {
    algorithm: 'sha1',
    value: 'Kq5sNclPz7QV2+lfQIuc6R7oRu0=',
  })
  t.is(checksumIn({}), undefined)
  for (const wrong of ['', 'sha1', 'sha1 ', 'sha512 YQ==', 'sha1 YQ== x', 'constructor YQ=='])
    t.throws(() => checksumIn({ 'upload-checksum': wrong }), { instanceOf: Invalid }, wrong)
})

test('only tus version 1.0.0 is supported', t => {
  t.notThrows(() => requireTus({ 'tus-resumable': '1.0.0' }, 'PATCH'))
  for (const headers of [{}, { 'tus-resumable': '1.0' }])
    t.like(
      t.throws(() => requireTus(headers, 'PATCH'), { instanceOf: Problem }),
      { status: 412 },
    )
  t.throws(() => requireTus({ 'tus-resumable': '1.0.0', 'x-http-method-override': 'DELETE' }, 'PATCH'), { instanceOf: Invalid })
})
