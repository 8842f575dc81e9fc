import { randomBytes } from 'node:crypto'
import test from 'ava'
import fc from 'fast-check'
import { claimsIn, type JobClaims, looksLikeJobKey, readJobKey, stampBytes, writeJobKey } from './job-keys.ts'

const [secret, next] = [randomBytes(32), randomBytes(32)]
const id = fc.uint8Array({ minLength: 12, maxLength: 12 }).map(bytes => Buffer.from(bytes).toString('hex'))
const claims: fc.Arbitrary<JobClaims> = fc.record({
  job: id,
  target: fc.record({ kind: fc.constantFrom('file' as const, 'dataset' as const), id }),
  dataset: fc.option(
    id.filter(each => !/^0+$/.test(each)),
    { nil: undefined },
  ),
  expires: fc.integer({ min: 0, max: 2 ** 32 - 1 }).map(seconds => new Date(seconds * 1000)),
  stamp: fc.uint8Array({ minLength: stampBytes, maxLength: stampBytes }).map(bytes => Buffer.from(bytes)),
})

test('a key is verified with the secret that signed it, including after a rotation', t => {
  fc.assert(
    fc.property(claims, written => {
      const key = writeJobKey(written, secret)
      t.regex(key, /^job_[\w-]{110}$/)
      for (const secrets of [[secret], [next, secret]]) t.deepEqual(readJobKey(key, secrets), written)
      t.deepEqual(claimsIn(key), written)
      t.is(readJobKey(key, [next]), undefined)
      t.is(readJobKey(key, []), undefined)
    }),
    { numRuns: 200 },
  )
})

test('any change invalidates a key, and a malformed key causes no exception', t => {
  fc.assert(
    fc.property(claims, fc.nat(109), fc.constantFrom(...'ABxyz019-_'), (written, at, character) => {
      const key = writeJobKey(written, secret)
      const changed = `${key.slice(0, 4 + at)}${character}${key.slice(5 + at)}`
      t.is(readJobKey(changed, [secret]) === undefined, changed !== key)
    }),
    { numRuns: 500 },
  )
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ minLength: 110, maxLength: 110, unit: 'binary' })), text => {
      for (const shown of [text, `job_${text}`]) t.is(readJobKey(shown, [secret]), undefined)
      t.is(claimsIn(text), undefined)
    }),
  )
  for (const shown of ['', 'job_', `job_${'='.repeat(110)}`, 'job_'.repeat(1000)]) t.is(claimsIn(shown), undefined)
  t.false(looksLikeJobKey('c0ffee00-0000-4000-8000-000000000000'))
})

test('only ids are accepted in a key', t => {
  const written: JobClaims = {
    job: 'not an id',
    target: { kind: 'file', id: 'a'.repeat(24) },
    dataset: undefined,
    expires: new Date(0),
    stamp: randomBytes(stampBytes),
  }
  t.throws(() => writeJobKey(written, secret), { instanceOf: TypeError })
})
