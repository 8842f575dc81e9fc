import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import test from 'ava'
import fc from 'fast-check'
import { Problem } from 'pounce/sdk'
import { MultipartReader } from './multipart.ts'
import type { RequestContext } from './request-context.ts'

const boundary = 'bOuNd'

/** A request whose body arrives in the given chunks. */
const requestOf = (pieces: readonly Buffer[]): RequestContext => {
  const req = Readable.from(pieces, { objectMode: false }) as unknown as IncomingMessage
  Object.assign(req, { headers: { 'content-type': `multipart/form-data; boundary=${boundary}` }, complete: true })
  return { req, invite: () => undefined } as unknown as RequestContext
}

/** The result of reading a body: its parts, or the code of the refusal. Anything else fails the test. */
const outcome = async (pieces: readonly Buffer[]): Promise<unknown> => {
  const parts: unknown[] = []
  try {
    for await (const part of new MultipartReader(requestOf(pieces), 20)) {
      if (part.kind === 'field') parts.push([part.field, part.value])
      else parts.push([part.field, part.filename, part.contentType, Buffer.concat(await part.stream.toArray()).toString('hex')])
    }
    return parts
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return error.code
    throw error
  }
}

const cut = (body: Buffer, places: readonly number[]): Buffer[] => {
  const at = [0, ...places.map(place => place % (body.length + 1)), body.length].sort((one, other) => one - other)
  return at
    .slice(1)
    .map((end, index) => body.subarray(at[index], end))
    .filter(piece => piece.length > 0)
}

const name = fc.stringMatching(/^[a-zäß0-9 ]{1,10}$/)
const content = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map(bytes => Buffer.from(bytes)),
  fc.constantFrom('\r\n', '--', `\r\n--${boundary.slice(1)}`, `x--${boundary}`, '\r', '\n--', '').map(text => Buffer.from(text)),
)
const parts = fc.array(fc.record({ name, filename: name, content }), { minLength: 1, maxLength: 5 })
const places = fc.array(fc.nat(), { maxLength: 12 })

const bodyOf = (given: readonly { name: string; filename: string; content: Buffer }[]): Buffer =>
  Buffer.concat([
    ...given.flatMap(part => [
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${part.name}"; filename="${part.filename}"\r\n\r\n`),
      part.content,
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ])

test('files are read byte for byte, regardless of chunk boundaries', async t => {
  const property = fc.asyncProperty(parts, places, async (given, cuts) => {
    const expected = given.map(part => [part.name, part.filename, 'application/octet-stream', part.content.toString('hex')])
    assert.deepEqual(await outcome(cut(bodyOf(given), cuts)), expected)
  })
  await t.notThrowsAsync(fc.assert(property, { numRuns: 400 }))
})

test('a corrupted body gives the same result for all chunk boundaries, and never hangs', async t => {
  const broken = fc.tuple(
    parts,
    fc.array(fc.record({ at: fc.nat(), remove: fc.nat(40), put: fc.constantFrom('', '-', '\r\n', '\r', ':', '"', `--${boundary}`, 'x') }), {
      maxLength: 3,
    }),
  )
  const property = fc.asyncProperty(broken, places, async ([given, changes], cuts) => {
    let body = bodyOf(given)
    for (const { at, remove, put } of changes) {
      const place = at % (body.length + 1)
      body = Buffer.concat([body.subarray(0, place), Buffer.from(put), body.subarray(place + remove)])
    }
    assert.deepEqual(await outcome(cut(body, cuts)), await outcome([body]))
  })
  await t.notThrowsAsync(fc.assert(property, { numRuns: 400 }))
})

test('every truncated body is refused', async t => {
  const property = fc.asyncProperty(parts, fc.nat(), async (given, at) => {
    const body = bodyOf(given)
    // Without the last boundary and its two dashes, the body is incomplete.
    assert.equal(await outcome([body.subarray(0, at % (body.length - 3))]), 'invalid')
  })
  await t.notThrowsAsync(fc.assert(property, { numRuns: 300 }))
})
