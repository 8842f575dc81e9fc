import test from 'ava'
import { durationText } from './duration-text.ts'

test('a wait is given in the largest unit of which it has two or more, rounded up', t => {
  t.deepEqual([0.2, 1, 90, 119.5, 120, 850, 7199, 7200, 86_000].map(durationText), [
    '1 second',
    '1 second',
    '90 seconds',
    '120 seconds',
    '2 minutes',
    '15 minutes',
    '120 minutes',
    '2 hours',
    '24 hours',
  ])
})
