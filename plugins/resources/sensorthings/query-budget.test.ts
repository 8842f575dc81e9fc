import test from 'ava'
import { QueryBudget } from './query-budget.ts'

test('a budget past its deadline still allows 5,000 reads, and no more', t => {
  const budget = new QueryBudget(20_000, -1)
  for (let looks = 0; looks < 5000; looks += 1) t.true(budget.take())
  t.false(budget.take())
})

test('a budget more than 30 s past its deadline allows no reads', t => {
  t.false(new QueryBudget(20_000, -30_001).take())
})

test('a budget before its deadline allows its full number of reads', t => {
  const budget = new QueryBudget(7000, 60_000)
  for (let looks = 0; looks < 7000; looks += 1) t.true(budget.take())
  t.false(budget.take())
})
