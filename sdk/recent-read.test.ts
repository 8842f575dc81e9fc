import test from 'ava'
import { RecentRead } from 'pounce/sdk/kit'

const hourMs = 3_600_000

/** A read whose results are numbered; `end` resolves one of them. */
const numbered = (maxAgeMs: number) => {
  const begun: PromiseWithResolvers<number>[] = []
  const recent = new RecentRead(maxAgeMs, () => {
    const one = Promise.withResolvers<number>()
    begun.push(one)
    return one.promise
  })
  const end = (at: number): void => begun[at]?.resolve(at)
  return { recent, begun, end }
}

test('concurrent and later callers share a read until it is too old', async t => {
  const { recent, begun, end } = numbered(hourMs)
  const both = [recent.get(), recent.get()]
  end(0)
  t.deepEqual(await Promise.all([...both, recent.get()]), [0, 0, 0])
  t.is(begun.length, 1)
  const old = numbered(0)
  void old.recent.get()
  void old.recent.get()
  t.is(old.begun.length, 2)
})

test('a read that began before a change is not used after it', async t => {
  for (const change of ['forgotten', 'another version']) {
    const { recent, end } = numbered(hourMs)
    const before = recent.get()
    if (change === 'forgotten') recent.forget()
    const version = change === 'forgotten' ? 0 : 1
    const after = recent.get(version)
    end(1)
    end(0)
    t.deepEqual([await before, await after, await recent.get(version)], [0, 1, 1], change)
  }
})

test('a failed read is repeated, and its failure does not discard a newer one', async t => {
  const { recent, begun, end } = numbered(hourMs)
  const failed = recent.get()
  begun[0]?.reject(new Error('unavailable'))
  await t.throwsAsync(failed, { message: 'unavailable' })
  const stale = recent.get()
  recent.forget()
  const newer = recent.get()
  begun[1]?.reject(new Error('unavailable'))
  await t.throwsAsync(stale)
  end(2)
  t.deepEqual([await newer, await recent.get()], [2, 2])
})
