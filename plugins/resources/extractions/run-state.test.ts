import test from 'ava'
import type { StatusLine } from './collections.ts'
import { normalizeStatus, outcomeOf, submitted, withLine } from './run-state.ts'

const line = (status: string, second: number): StatusLine => ({ status, at: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString() })
const requested = line(submitted, 30)

const after = (added: readonly StatusLine[], start: readonly StatusLine[] = [requested]): readonly StatusLine[] =>
  added.reduce((lines, each) => withLine(lines, each) ?? lines, start)

const orders = (added: readonly StatusLine[]): StatusLine[][] =>
  added.length < 2 ? [[...added]] : added.flatMap((first, at) => orders(added.toSpliced(at, 1)).map(rest => [first, ...rest]))

const started = line('StatusMessage.start: Started processing.', 10)
const works = line('StatusMessage.processing: Downloading file.', 11)
const retried = line('StatusMessage.retry: (#1) no route', 12)
const failed = line('StatusMessage.error: no luck', 13)

test('the same status messages give the same result in every order, repeated or not', t => {
  const cases = [
    [[started, works, line('DONE', 12)], 'done', 'DONE'],
    [[started, works, retried, failed], 'failed', failed.status],
    [[started, works, retried], 'open', retried.status],
    [[started, failed, line('StatusMessage.start: Started processing.', 14)], 'open', started.status],
    [[started, failed, line('DONE', 15)], 'done', 'DONE'],
  ] as const
  for (const [added, state, status] of cases)
    for (const order of orders(added)) t.like(outcomeOf(after([...order, ...order])), { state, status }, JSON.stringify(order))
})

test('an error from an extractor whose clock is behind ends the run', t => {
  const heard = (one: StatusLine, second: number): StatusLine => ({ ...one, heard: line('', second).at })
  const behind = heard(line('StatusMessage.error: no luck', 5), 60)
  const [first, second] = [heard(started, 40), heard(works, 41)]
  t.like(outcomeOf(after([first, second, behind])), { state: 'failed', status: behind.status })
  const again = heard(line('StatusMessage.start: Started processing.', 50), 70)
  t.like(outcomeOf(after([first, second, behind, again])), { state: 'open' })
})

test('a status with a time before the request is applied', t => {
  t.like(outcomeOf(after([started])), { status: started.status, state: 'open', end: null })
})

test('a failure is kept when a later status of the server itself follows it', t => {
  t.like(outcomeOf(after([line('Cancel Failed', 40), failed])), { state: 'failed' })
  t.like(outcomeOf(after([line('Cancel Requested', 40)])), { state: 'open', status: 'Cancel Requested' })
  t.like(outcomeOf(after([line('Cancel Success', 41), works])), { state: 'cancelled', status: 'Cancel Success' })
})

test('an error in a foreign format keeps the run open, as in v1, until a final status arrives', t => {
  t.like(outcomeOf(after([line('ERROR: x', 12)])), { state: 'open' })
})

test('requesting a run again clears its earlier outcome', t => {
  const again = [...after([started, failed]), line(submitted, 50)]
  t.like(outcomeOf(again), { state: 'open', status: submitted })
  t.like(outcomeOf(after([line('DONE', 14)], again)), { state: 'done' })
  t.is(after([started], again).length, 5)
})

test('a hundred lines are kept: the one with the time of the request, and the latest others', t => {
  const many = Array.from({ length: 150 }, (_, second) => line(`StatusMessage.processing: ${second}`, second))
  const lines = after(many)
  t.is(lines.length, 100)
  t.is(lines[0], requested)
  t.is(lines.at(-1), many.at(-1))
  t.is(after([line('a', 1), line('b', 200)], [...lines, line(submitted, 160)]).length, 100)
})

test('any status with “done” except progress becomes DONE; every key is masked; the length is limited', t => {
  t.is(normalizeStatus('StatusMessage.done: Done processing.'), 'DONE')
  t.is(normalizeStatus('2 of 5 pages done'), 'DONE')
  for (const text of ['StatusMessage.processing: 2 of 5 pages done', 'StatusMessage.retry: (#1) abandoned'])
    t.is(normalizeStatus(text), text)
  const texts = [
    '503 Server Error: url: http://x/api/files/1?key=secret1&y=1',
    "http://x?KEY=secret1 and key=secret1'",
    '{"secretKey":"secret1","a":1} {\'key\': \'secret1\'}',
    'X-API-Key: secret1, next',
    'http%3A//x%3Fkey%3Dsecret1&a',
  ]
  for (const text of texts) {
    t.false(normalizeStatus(text).includes('secret1'), normalizeStatus(text))
    t.true(normalizeStatus(text).includes('secretKey'))
  }
  t.is(normalizeStatus(texts[0]!), '503 Server Error: url: http://x/api/files/1?key=secretKey&y=1')
  t.is(normalizeStatus('x'.repeat(5000)).length, 2000)
  for (const start of ['', 'x']) t.true(normalizeStatus(start + '🌲'.repeat(2000)).isWellFormed())
})
