import test, { type ExecutionContext } from 'ava'
import { contractTest, type TestContext } from './any-runner.ts'

type Body = (t: object) => Promise<void>

/** Declares and runs one test with a runner whose contexts have no assertions, like those of vitest and node:test. */
const failureOf = async (body: (t: TestContext) => unknown): Promise<unknown> => {
  let declared: Body | undefined
  contractTest((_title: string, run: Body) => {
    declared = run
  })('a fact', async t => {
    await body(t)
  })
  try {
    await declared?.({})
    return undefined
  } catch (error) {
    return error
  }
}

/** The message without the diff that Node appends. */
const messageOf = async (t: ExecutionContext, body: (t: TestContext) => unknown): Promise<string> => {
  const error = await failureOf(body)
  t.true(error instanceof Error)
  return error instanceof Error ? (error.message.split('\n')[0] ?? '') : ''
}

test('a failed assertion reports the expected and the actual value, and the case', async t => {
  t.is(await messageOf(t, one => one.is(200, 400, '1e999')), 'Expected 400, but got 200. Case: 1e999')
  t.is(await messageOf(t, one => one.is('', 'a', '')), "Expected 'a', but got ''. Case: the empty text")
  t.is(await messageOf(t, one => one.true(false)), 'Expected true, but got false')
  t.is(await messageOf(t, one => one.deepEqual([1, { a: 2 }], [1, { a: 3 }])), 'Expected [ 1, { a: 3 } ], but got [ 1, { a: 2 } ]')
  t.is(
    await messageOf(t, one => one.like({ a: 1, b: { c: 2 } }, { b: { c: 3 } })),
    'Expected { b: { c: 3 } }, but got { a: 1, b: { c: 2 } }',
  )
  t.is(await messageOf(t, one => one.regex('Key', /^[a-z]+$/)), "Expected text like /^[a-z]+$/, but got 'Key'")
})

test('a missing or unexpected error is reported', async t => {
  t.is(
    await messageOf(t, one => one.throwsAsync(Promise.resolve(7), { instanceOf: RangeError }, '1e999')),
    'Expected RangeError to be thrown, but the result was 7. Case: 1e999',
  )
  t.is(
    await messageOf(t, one => one.throws(() => JSON.parse('{'), { instanceOf: RangeError })),
    "Expected an error of the class RangeError, but it was SyntaxError: Expected property name or '}' in JSON at position 1 (line 1 column 2)",
  )
  t.is(
    await messageOf(t, one => one.notThrowsAsync(Promise.reject(new TypeError('no such store')))),
    'Expected no error, but TypeError: no such store',
  )
})

test('assertions that hold pass, and expected errors are returned', async t => {
  const error = new RangeError('too far')
  const failure = await failureOf(async one => {
    one.is(Number.NaN, Number.NaN)
    one.not(1, 2)
    one.truthy('a')
    one.false(false)
    one.like({ a: [{ b: 1, c: 2 }] }, { a: [{ b: 1 }] })
    one.notRegex('a', /b/)
    one.notThrows(() => undefined)
    t.is(await one.throwsAsync(Promise.reject(error), { instanceOf: RangeError, message: /far$/ }), error)
    t.is(await one.throwsAsync(async () => Promise.reject(error)), error)
  })
  t.is(failure, undefined)
})

test('teardowns run after the test in reverse order, even if it failed', async t => {
  const ended: string[] = []
  await failureOf(one => {
    one.teardown(() => ended.push('first'))
    one.teardown(async () => ended.push('second'))
    one.fail()
  })
  t.deepEqual(ended, ['second', 'first'])
})

test('an ava context is used as it is', async t => {
  let given: TestContext | undefined
  contractTest((_title: string, run: Body) => void run(t))('a fact', one => {
    given = one
  })
  t.is(given, t)
})
