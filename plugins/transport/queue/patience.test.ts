import test from 'ava'
import { Unavailable } from 'pounce/sdk'
import { patiently } from './patience.ts'

const patience = { signal: new AbortController().signal, tries: 3, delayMs: 1, awayMs: 10_000 }

const failing = (times: number, error: Error) => {
  let calls = 0
  const call = async (): Promise<number> => {
    calls += 1
    if (calls <= times) throw error
    return calls
  }
  return call
}

test('a call is repeated until it succeeds, as often as tries allow', async t => {
  t.is(await patiently(failing(2, new Error('no')), patience), 3)
  await t.throwsAsync(patiently(failing(3, new Error('no')), patience), { message: 'no' })
})

test('waiting for a part that is unavailable costs no try', async t => {
  t.is(await patiently(failing(6, new Unavailable('away')), { ...patience, tries: 1 }), 7)
})

test('waiting for a part that stays away ends', async t => {
  await t.throwsAsync(patiently(failing(1000, new Unavailable('away')), { ...patience, awayMs: 20 }), { message: 'away' })
})

test('an abort ends the wait', async t => {
  const control = new AbortController()
  const waiting = patiently(failing(1000, new Unavailable('away')), { ...patience, signal: control.signal })
  control.abort(new Error('enough'))
  await t.throwsAsync(waiting, { message: 'enough' })
})

test('an abort ends the wait for a call that never answers', async t => {
  const control = new AbortController()
  const waiting = patiently(() => new Promise<never>(() => undefined), { ...patience, signal: control.signal })
  control.abort(new Error('enough'))
  await t.throwsAsync(waiting, { message: 'enough' })
})
