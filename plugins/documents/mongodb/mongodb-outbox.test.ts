import test from 'ava'
import { EventIds } from './mongodb-outbox.ts'

const isRising = (ids: readonly string[]): boolean => ids.every((id, at) => at === 0 || (ids[at - 1] ?? '') < id)

test('IDs are 24 hex digits that begin with the seconds, and increase even when the clock is set back', t => {
  const ids = new EventIds()
  const now = Date.parse('2026-11-28T12:00:00.123Z')
  const all = [now, now, now + 1, now - 60_000, now + 999, now + 1000].map(at => ids.next(at))
  for (const id of all) t.regex(id, /^[0-9a-f]{24}$/)
  t.is(Number.parseInt(all[0]?.slice(0, 8) ?? '', 16), Math.floor(now / 1000))
  t.true(isRising(all), all.join(' '))
})

test('100,000 IDs generated in one millisecond are distinct and increasing', t => {
  const ids = new EventIds()
  const all = Array.from({ length: 100_000 }, () => ids.next(1_795_867_200_999))
  t.true(isRising(all))
})

test('IDs of two kernels increase with the events of a document, even when one clock is behind', t => {
  const [one, other] = [new EventIds(), new EventIds()]
  const now = 1_795_867_200_000
  const all: string[] = []
  for (let round = 0; round < 50; round += 1) {
    const [ids, clock] = round % 2 ? [one, now + round] : [other, now - 5000]
    all.push(ids.next(clock, all.at(-1)))
  }
  t.true(isRising(all), all.join(' '))
})

test('IDs sort after those of earlier versions, which have a random part after the seconds', t => {
  const now = 1_795_867_200_500
  const former = `${Math.floor(now / 1000).toString(16)}ffffffffff000001`
  t.true(new EventIds().next(now, former) > former)
})
