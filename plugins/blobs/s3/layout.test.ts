import test from 'ava'
import { blockAt, partBytes } from './layout.ts'

const MiB = 1024 * 1024

test('10,000 parts within the limits of S3 hold more than 5 TiB, and no further part is allowed', t => {
  let total = 0
  for (let number = 1; number <= 10_000; number += 1) {
    const length = partBytes(number) ?? 0
    t.true(length >= 5 * MiB && length <= 5 * 1024 * MiB)
    total += length
  }
  t.true(total > 5 * 1024 * 1024 * MiB)
  t.is(partBytes(10_001), undefined)
})

test('blocks are contiguous, end at part boundaries, and are limited in number', t => {
  let begin = 0
  for (let number = 1; number <= 10_000; number += 1) {
    const end = begin + (partBytes(number) ?? 0)
    t.is(blockAt(begin).begin, begin)
    t.is(blockAt(end - 1).end, end)
    t.is(blockAt(end).index, blockAt(end - 1).index + 1)
    begin = end
  }
  t.true(blockAt(begin - 1).index * 4 < 9_000_000)
  for (const at of [0, 65_535, 65_536, 6000 * MiB - 1, 6000 * MiB, 18_000 * MiB + 5]) {
    const { begin: first, end } = blockAt(at)
    t.true(first <= at && at < end && end - first <= 4 * MiB)
  }
  t.is(blockAt(65_536).index, 1)
})
