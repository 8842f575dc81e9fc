import test from 'ava'
import { Unavailable } from 'pounce/sdk'
import { withRetry } from './retry.ts'

const retryPolicy = { signal: new AbortController().signal, tries: 3, delayMs: 1, unavailableMs: 600_000 }

const failing = (times: number, error: Error) => {
  let calls = 0
  const call = async (): Promise<number> => {
    calls += 1
    if (calls <= times) throw error
    return calls
  }
  return call
}

test('a call is retried until it succeeds or no tries are left', async t => {
  t.is(await withRetry(failing(2, new Error('no')), retryPolicy), 3)
  await t.throwsAsync(withRetry(failing(3, new Error('no')), retryPolicy), { message: 'no' })
})

test('failures with Unavailable do not use up tries', async t => {
  t.is(await withRetry(failing(6, new Unavailable('away')), { ...retryPolicy, tries: 1 }), 7)
})

test('retries end after a time limit while the service stays unavailable', async t => {
  await t.throwsAsync(withRetry(failing(1000, new Unavailable('away')), { ...retryPolicy, unavailableMs: 20 }), { message: 'away' })
})

test('an abort ends the wait', async t => {
  const control = new AbortController()
  const waiting = withRetry(failing(1000, new Unavailable('away')), { ...retryPolicy, signal: control.signal })
  control.abort(new Error('enough'))
  await t.throwsAsync(waiting, { message: 'enough' })
})

test('an abort ends the wait for a call that never settles', async t => {
  const control = new AbortController()
  const waiting = withRetry(() => new Promise<never>(() => undefined), { ...retryPolicy, signal: control.signal })
  control.abort(new Error('enough'))
  await t.throwsAsync(waiting, { message: 'enough' })
})
