import test from 'ava'
import { Conflict, InTrash, NoSpace, Unavailable } from 'pounce/sdk'
import { decideOnFailure } from './failure-policy.ts'
import type { StoredJob } from './jobs.ts'
import { RunFailure, thrown } from './run-failure.ts'

const context = (attempts: number, crashes = 0) => ({
  job: { attempts, crashes, error: 'earlier', published: '2026-01-01T00:00:00.000Z' } as StoredJob,
  now: new Date('2026-01-01T00:00:10.000Z'),
  retryDelayMs: 100,
  paths: new Map([['/data/runs/1/output', 'output']]),
})

test('a job that the extractor refuses is dead-lettered at once', t => {
  t.deepEqual(decideOnFailure(new RunFailure('refused', 'bad bytes'), undefined, context(1)), {
    end: 'dead',
    error: 'bad bytes',
    status: 'StatusMessage.error: bad bytes',
  })
})

test('a killed run is retried twice, with increasing delays', t => {
  const killed = new RunFailure('killed', 'too long')
  const ends = [1, 2, 3].map(attempts => decideOnFailure(killed, undefined, context(attempts)))
  t.deepEqual(
    ends.map(result => ('inMs' in result ? result.inMs : result.end)),
    [100, 200, 'dead'],
  )
  const [first] = ends
  t.is(first?.end === 'waiting' && first.status, 'StatusMessage.retry: (#1) too long')
})

test('a job that fails because of a server error is dead-lettered after the fifth attempt', t => {
  const ends = [1, 2, 3, 4, 5].map(attempts => decideOnFailure(new Conflict('secret of the server'), undefined, context(attempts)).end)
  t.deepEqual(ends, ['waiting', 'waiting', 'waiting', 'waiting', 'dead'])
  t.notRegex(JSON.stringify(decideOnFailure(new Error('secret of the server'), undefined, context(5))), /secret/)
})

test('a run that found no space on the disk is retried for a day', t => {
  const verdicts = Array.from({ length: 15 }, (_, n) =>
    decideOnFailure(thrown('ENOSPC: no space left on device, write'), undefined, context(n + 1)),
  )
  t.deepEqual([...new Set(verdicts.slice(0, 14).map(({ end }) => end))], ['waiting'])
  t.is(verdicts[14]?.end, 'dead')
  const waits = verdicts.map(result => ('inMs' in result ? result.inMs : 0))
  t.true(waits.reduce((sum, ms) => sum + ms, 0) * (5000 / 100) > 20 * 3_600_000)
  t.is(thrown('bad bytes').kind, 'refused')
})

test('crashes of the server do not count against the extractor', t => {
  t.is(decideOnFailure(new RunFailure('killed', 'too long'), undefined, context(4, 3)).end, 'waiting')
})

test('a run that fails because a store is unavailable or full is not counted as an attempt', t => {
  for (const error of [new Unavailable('the store is unavailable'), new NoSpace()]) {
    const result = decideOnFailure(error, undefined, context(5))
    t.is(result.end === 'waiting' && result.counts, false)
  }
})

test('a run on a resource in the trash is not counted as an attempt, and waits the longer the older the job is', t => {
  const delayAfter = (seconds: number) => {
    const now = new Date(Date.parse('2026-01-01T00:00:00.000Z') + seconds * 1000)
    const result = decideOnFailure(new InTrash('file'), undefined, { ...context(5), now })
    return result.end === 'waiting' && !result.counts && result.inMs
  }
  t.deepEqual([0.1, 10, 1e6].map(delayAfter), [100, 5000, 3_600_000])
})

test('an interruption takes precedence over the error it caused', t => {
  const error = new RunFailure('killed', 'SIGKILL')
  t.deepEqual(decideOnFailure(error, 'stopping', context(3)), { end: 'waiting', inMs: 0, counts: false, error: 'earlier' })
  t.deepEqual(decideOnFailure(error, 'cancelled', context(3)), { end: 'cancelled' })
  t.deepEqual(decideOnFailure(error, 'lost', context(3)), { end: 'lost' })
})

test('messages for users do not contain paths of the server', t => {
  const result = decideOnFailure(new RunFailure('refused', 'cannot write /data/runs/1/output/a.png'), undefined, context(1))
  t.is(result.end === 'dead' && result.error, 'cannot write output/a.png')
})
