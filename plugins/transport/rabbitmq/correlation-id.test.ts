import test from 'ava'
import { correlationIdOf, jobIdIn } from './correlation-id.ts'

const id = '66f0a1b2c3d4e5f607182930'

test('a correlation id is a version 4 UUID, different for each message, that contains the id of its job', t => {
  const all = Array.from({ length: 50 }, () => correlationIdOf(id))
  for (const one of all) {
    t.regex(one, /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    t.is(jobIdIn(one), id)
  }
  t.is(new Set(all).size, 50)
})

test('other correlation ids contain no job id', t => {
  for (const other of [undefined, null, 5, '', 'c', '66f0a1b2-c3d4-1e5f-8607-182930000000', `${correlationIdOf(id)} `])
    t.is(jobIdIn(other), undefined)
})
