import test from 'ava'
import { dateOf, meaningOf, readReply } from './status-reply.ts'

const now = new Date('2026-11-21T10:00:00Z')
const read = (changes: object) =>
  readReply(
    Buffer.from(JSON.stringify({ file_id: 'f', extractor_id: 'e', status: 'START', start: '2026-11-21T09:14:51-00:00', ...changes })),
    now,
  )

test('a reply of pyclowder is parsed', t => {
  t.deepEqual(read({ job_id: 'j', user_id: 'u', message_type: 'StatusMessage.start', message: 'x' }), {
    targetId: 'f',
    extractor: 'e',
    jobId: 'j',
    user: 'u',
    status: 'START',
    at: new Date('2026-11-21T09:14:51Z'),
  })
  t.deepEqual(read({ job_id: null }), { targetId: 'f', extractor: 'e', status: 'START', at: new Date('2026-11-21T09:14:51Z') })
})

test('a status with "done" anywhere means done, except progress and retries', t => {
  for (const status of ['DONE', 'StatusMessage.done: Done processing.', 'all done, StatusMessage.error'])
    t.is(meaningOf(read({ status }).status), 'done')
  t.is(meaningOf(read({ status: 'StatusMessage.error: x' }).status), 'error')
  for (const status of [
    'StatusMessage.processing: 2 of 5 pages done',
    'StatusMessage.retry: (#1) abandoned',
    'ERROR: x',
    'StatusMessage.retry: (#1) x',
    'Cancel Requested',
    'anything',
  ])
    t.is(meaningOf(read({ status }).status), 'under way')
})

test('start times in unusual formats are parsed; an invalid one is replaced by the current time', t => {
  const local = new Date('2026-01-05T10:11:12').toISOString()
  const cases: readonly (readonly [string, string])[] = [
    ['2026-01-05T10:11:12-06:00', '2026-01-05T16:11:12.000Z'],
    ['2026-01-05T10:11:12-00:00', '2026-01-05T10:11:12.000Z'],
    ['2026-01-05T10:11:12+0530', '2026-01-05T04:41:12.000Z'],
    // Half past five and a quarter to six, as pyclowder writes them.
    ['2026-01-05T10:11:12+05:50', '2026-01-05T04:41:12.000Z'],
    ['2026-01-05T10:11:12+05:75', '2026-01-05T04:26:12.000Z'],
    ['2026-01-05T10:11:12+01', '2026-01-05T09:11:12.000Z'],
    ['2026-01-05 10:11:12.123456Z', '2026-01-05T10:11:12.123Z'],
    ['2026-01-05T10:11:12 UTC', '2026-01-05T10:11:12.000Z'],
    ['2026-01-05T10:11:12', local],
    ['2026-01-05T10:11:12,5', new Date('2026-01-05T10:11:12.5').toISOString()],
  ]
  for (const [text, expected] of cases) t.is(dateOf(text)?.toISOString(), expected, text)
  for (const start of ['', 'yesterday', '2026-13-45T10:11:12', 5, null, undefined, '2026-01-05']) t.deepEqual(read({ start }).at, now)
})

test('a malformed reply is refused with the reason', t => {
  const refused: readonly (readonly [string, RegExp])[] = [
    ['', /JSON/],
    ['[]', /not a JSON object/],
    ['null', /not a JSON object/],
    ['{"extractor_id":"e","status":"s"}', /file_id/],
    ['{"file_id":"f\\n","extractor_id":"e","status":"s"}', /file_id/],
    [`{"file_id":"${'f'.repeat(201)}","extractor_id":"e","status":"s"}`, /file_id/],
    ['{"file_id":"f","status":"s"}', /extractor_id/],
    ['{"file_id":"f","extractor_id":"e","status":5}', /status/],
    [`{"file_id":"f","x":${'['.repeat(100)}${']'.repeat(100)}}`, /nested/],
    [' '.repeat(2 ** 24 + 1), /bytes/],
  ]
  for (const [text, message] of refused) t.throws(() => readReply(Buffer.from(text), now), { message })
})

test('an error about a file name that is not UTF-8, as Python writes it, is still an error', t => {
  const { status } = read({ status: "StatusMessage.error: No such file: 'a\udce4.txt'", message: 'a\udce4.txt' })
  t.is(status, "StatusMessage.error: No such file: 'a\ufffd.txt'")
})

test('a reply in ISO 8859-1 is parsed', t => {
  const sent = '{"file_id":"f","extractor_id":"e","status":"StatusMessage.error: Datei für Käse"}'
  t.is(readReply(Buffer.from(sent, 'latin1'), now).status, 'StatusMessage.error: Datei für Käse')
})

test('a long status is truncated, and can be stored', t => {
  const { status } = read({ status: `a\u0000b ${'😀'.repeat(20_000)}` })
  t.true(status.startsWith('ab '))
  t.is(status.length, 10_000)
  t.true(status.isWellFormed())
})

test('an error with megabytes of text, which pyclowder sends twice, is still an error', t => {
  const text = `StatusMessage.error: ${'é'.repeat(2 ** 20)}`
  const { status } = read({ status: text, message: text })
  t.is(meaningOf(status), 'error')
  t.is(status.length, 10_000)
})

test('a key at the position where a status is truncated stays masked', t => {
  const { status } = read({ status: `StatusMessage.error: ${'x'.repeat(9970)}?key=0123456789abcdef` })
  t.false(status.includes('0123'))
})
