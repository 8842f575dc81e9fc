import { Readable } from 'node:stream'
import test, { type ExecutionContext } from 'ava'
import { type Bytes, Conflict, NotFound, type Route, routesFor, s, Unavailable } from 'pounce/sdk'
import { RawJson, streamed } from 'pounce/sdk/kit'
import { checkAnswers } from './answer-check.ts'
import { rawClient } from './raw-client.ts'
import { serve } from './serve.ts'

const faults: string[] = []
checkAnswers(({ message }) => faults.push(message))

const route = routesFor('things', {})
const numbers = s.Object({ a: s.Number() })

/** How the response of a route differs from its declaration; undefined if it matches. */
const faultOf = async (
  t: ExecutionContext,
  handle: () => unknown,
  declared: object = { responses: { 200: numbers } },
  init: RequestInit = {},
): Promise<string | undefined> => {
  const about = { method: 'GET', path: '/api/x', summary: 'x', permission: 'anyone' } as const
  const getX = route({ ...about, ...declared, handle: async () => handle() } as never) as Route
  const { url } = await serve(t, { getX })
  await (await fetch(`${url}/api/x`, { redirect: 'manual', ...init })).arrayBuffer()
  return faults.pop()
}

const bytes = (contentType: string, text = 'x'): Bytes => ({ contentType, open: () => streamed([Buffer.from(text)]) })
const answering =
  (body: unknown, status = 200) =>
  () => ({ status, body })
const throwing = (thrown: unknown) => () => {
  throw thrown
}
async function* rows(count: number, last: unknown): AsyncGenerator<unknown> {
  for (let at = 0; at < count; at += 1) yield { a: at }
  yield last
}

test.serial('a body that does not match is reported with route, status and error', async t => {
  t.regex(
    (await faultOf(t, answering({ a: 'x' }))) ?? '',
    /^GET \/api\/x \(getX of resources\.test\) returned 200 in conflict with its declaration: a must be a number: \{"a":"x"\}$/,
  )
  t.regex((await faultOf(t, answering(new RawJson('{"b":1}')))) ?? '', /a is required/)
  t.regex((await faultOf(t, answering(undefined))) ?? '', /media type is missing/)
  t.is(await faultOf(t, answering({ a: 1 })), undefined)
  t.is(await faultOf(t, answering({ a: 1 }), undefined, { method: 'HEAD' }), undefined)
})

test.serial('compressed bodies and streamed lists are checked', async t => {
  const text = { responses: { 200: s.Object({ text: s.String({ maxLength: 10 }) }) } }
  t.regex((await faultOf(t, answering({ text: 'long '.repeat(2000) }), text)) ?? '', /text must be/)
  const list = { responses: { 200: s.rows(numbers) } }
  t.is(await faultOf(t, answering(rows(20_000, { a: 1 })), list), undefined)
  t.regex((await faultOf(t, answering(rows(20_000, { a: 'x' })), list)) ?? '', /\[20000\]\.a must be a number/)
})

test.serial('an undeclared status is an error, even for a refusal', async t => {
  t.regex((await faultOf(t, answering({ a: 1 }, 201))) ?? '', /201 .*the status 201 is not declared/)
  t.regex((await faultOf(t, throwing(new Conflict('no')))) ?? '', /the status 409 is not declared/)
  t.is(await faultOf(t, throwing(new Conflict('no')), { responses: { 200: numbers }, throws: [Conflict] }), undefined)
  t.is(await faultOf(t, throwing(new Conflict('no')), { method: 'POST', responses: { 200: numbers } }, { method: 'POST' }), undefined)
  t.is(await faultOf(t, throwing(new Unavailable('away'))), undefined)
  t.is(await faultOf(t, throwing(new Error('bug'))), undefined)
})

test.serial('a refusal has the common format, or the one that its route declares', async t => {
  const ko = new NotFound('thing', { details: { status: 'KO' } })
  const accept = { headers: { accept: 'application/problem+json' } }
  t.regex((await faultOf(t, throwing(ko), { responses: { 200: numbers }, throws: [NotFound] })) ?? '', /status must be "error"/)
  const declared = { responses: { 200: numbers, 404: s.Object({ status: s.Literal('KO') }) }, throws: [NotFound] }
  t.is(await faultOf(t, throwing(ko), declared), undefined)
  t.is(await faultOf(t, throwing(new NotFound('thing')), declared), undefined)
  t.is(await faultOf(t, throwing(new NotFound('thing')), declared, accept), undefined)
})

test.serial('the media type is one of those declared', async t => {
  const table = { responses: { 200: s.bytes({ 'text/csv': s.bytes(), 'application/json': numbers }) } }
  t.is(await faultOf(t, answering(bytes('text/csv; charset=utf-8')), table), undefined)
  t.is(await faultOf(t, answering(bytes('application/json', '{"a":1}')), table), undefined)
  t.regex((await faultOf(t, answering(bytes('application/json', '{"a":"x"}')), table)) ?? '', /a must be a number/)
  t.regex((await faultOf(t, answering(bytes('text/html')), table)) ?? '', /media type is text\/html, not text\/csv or application\/json/)
  t.is(await faultOf(t, answering(bytes('text/html')), { responses: { 200: s.bytes() } }), undefined)
})

test.serial('bytes may be requested as ranges, and conditionally', async t => {
  const stored = { responses: { 200: s.bytes({ 'text/csv': s.bytes() }) } }
  const whole = { ...bytes('text/csv'), sizeBytes: 4, etag: 'one', open: () => Readable.from([Buffer.from('abcd')]) }
  const part = { ...whole, open: () => Readable.from([Buffer.from('ab')]) }
  t.is(await faultOf(t, answering(part), stored, { headers: { range: 'bytes=0-1' } }), undefined)
  t.is(await faultOf(t, answering(whole), stored, { headers: { range: 'bytes=9-' } }), undefined)
  t.is(await faultOf(t, answering(whole), stored, { headers: { 'if-none-match': '"one"' } }), undefined)
  t.is(await faultOf(t, answering(whole), stored, { headers: { 'if-match': '"two"' } }), undefined)
})

test.serial('a response without a route is a problem, or empty', async t => {
  const { url, port } = await serve(t, {})
  for (const method of ['GET', 'OPTIONS', 'DELETE']) await (await fetch(`${url}/healthz`, { method })).text()
  await (await fetch(`${url}/nowhere`)).text()
  await (await rawClient(port)).send('GET /healthz HTTP/1.1\r\nHost: another.example.org\r\nConnection: close\r\n\r\n').closed()
  t.deepEqual(faults, [])
})
