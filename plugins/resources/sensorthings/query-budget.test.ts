import test from 'ava'
import { QueryBudget } from './query-budget.ts'

test('a budget whose time is over still allows 5,000 reads, and no more', t => {
  const budget = new QueryBudget(20_000, -1)
  for (let looks = 0; looks < 5000; looks += 1) t.true(budget.take())
  t.false(budget.take())
})

test('a budget whose time has long been over allows nothing', t => {
  t.false(new QueryBudget(20_000, -30_001).take())
})

test('a budget within its time allows its number of reads', t => {
  const budget = new QueryBudget(7000, 60_000)
  for (let looks = 0; looks < 7000; looks += 1) t.true(budget.take())
  t.false(budget.take())
})
