import test from 'ava'
import { declareAll, deferred } from './deferred-declarations.ts'

type Declare = (title: unknown, ...rest: readonly unknown[]) => void

/** A stub of AVA's `test` that records declarations. */
const declared = () => {
  const seen: (readonly unknown[])[] = []
  const declare =
    (name: string): Declare =>
    (...words) =>
      void seen.push([name, ...words])
  const skip = declare('skip')
  const serial = Object.assign(declare('serial'), { skip: declare('serial.skip') })
  const fake = Object.assign(declare('test'), {
    ...{ serial, skip, before: declare('before'), meta: { file: 'a' } },
    macro: (run: unknown) => ({ exec: run }),
    skipIf: (isSkipped: boolean) => (isSkipped ? skip : fake),
  })
  return { seen, held: deferred(fake as ((...words: Parameters<Declare>) => void) & typeof fake, 'x.test.ts') }
}
const run = () => undefined

test.serial('tests are declared after the last file is loaded, in order', t => {
  const { seen, held } = declared()
  held('one', run)
  held.serial('two', run)
  t.deepEqual(seen, [])
  declareAll()
  t.deepEqual(seen, [
    ['test', 'x.test.ts: one', run],
    ['serial', 'x.test.ts: two', run],
  ])
  declareAll()
  t.is(seen.length, 2)
})

test.serial('titles of all forms of tests are prefixed with the file; hooks without a title have none', t => {
  const { seen, held } = declared()
  held.skip('one', run)
  held.serial.skip('two', run)
  held.skipIf(true)('three', run)
  held.before(run)
  declareAll()
  t.deepEqual(seen, [
    ['skip', 'x.test.ts: one', run],
    ['serial.skip', 'x.test.ts: two', run],
    ['skip', 'x.test.ts: three', run],
    ['before', run],
  ])
})

test.serial('macros and non-functions are passed unchanged', t => {
  const { held } = declared()
  t.deepEqual(held.macro(run), { exec: run })
  t.deepEqual(held.meta, { file: 'a' })
})
