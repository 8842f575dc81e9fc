import test from 'ava'
import { NotFound, Problem, Unavailable } from 'pounce/sdk'

test('a problem keeps its status, whatever else a JavaScript plugin passes', t => {
  type Loose = new (...given: unknown[]) => Problem
  for (const extra of ['0123456789abcdef01234567', null, 5, undefined]) {
    t.like(new (NotFound as Loose)('file', extra), { status: 404, code: 'not-found', cause: undefined })
    t.is(new (Unavailable as Loose)('away', extra).status, 503)
  }
})

test('a cause is kept', t => {
  const cause = new Error('why')
  t.is(new NotFound('file', { cause }).cause, cause)
  t.true(new NotFound('file') instanceof Problem)
})
