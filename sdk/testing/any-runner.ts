import { AssertionError } from 'node:assert'
import { inspect, isDeepStrictEqual } from 'node:util'

/** Expected properties of a thrown error. */
export interface ExpectedError<E extends Error = Error> {
  readonly instanceOf?: new (...words: never[]) => E
  readonly message?: string | RegExp
  readonly code?: string
}

/** The context of a contract test: the ava assertions that contracts use, under every runner. An ava context qualifies as it is. */
export interface TestContext {
  is(actual: unknown, expected: unknown, message?: string): unknown
  not(actual: unknown, other: unknown, message?: string): unknown
  true(actual: unknown, message?: string): unknown
  false(actual: unknown, message?: string): unknown
  truthy(actual: unknown, message?: string): unknown
  deepEqual(actual: unknown, expected: unknown, message?: string): unknown
  /** `actual` includes these members, at any depth. */
  like(actual: unknown, expected: Readonly<Record<string, unknown>>, message?: string): unknown
  regex(text: string, expression: RegExp, message?: string): unknown
  notRegex(text: string, expression: RegExp, message?: string): unknown
  throws<E extends Error = Error>(run: () => unknown, expected?: ExpectedError<E>, message?: string): E
  throwsAsync<E extends Error = Error>(run: () => PromiseLike<unknown>, expected?: ExpectedError<E>, message?: string): Promise<E>
  throwsAsync<E extends Error = Error>(promise: PromiseLike<unknown>, expected?: ExpectedError<E>, message?: string): Promise<E>
  notThrows(run: () => unknown, message?: string): unknown
  notThrowsAsync(run: () => PromiseLike<unknown>, message?: string): Promise<unknown>
  notThrowsAsync(promise: PromiseLike<unknown>, message?: string): Promise<unknown>
  fail(message?: string): unknown
  log(...values: unknown[]): void
  /** Runs after the test, whether it passed or failed; in reverse order of registration. */
  teardown(end: () => unknown): void
}

type Declare<T> = (title: string, body: (t: T) => Promise<void>) => unknown

/** `test` of ava, vitest or node:test. */
export interface TestRunner extends Declare<object> {
  (title: string, body: (t: object) => Promise<void>): unknown
  /** Declares a test that runs alone, for runners that run the tests of a file concurrently. */
  readonly serial?: Declare<object>
}

/** The `test` function that contracts use. */
export interface ContractTest {
  (title: string, body: (t: TestContext) => void | Promise<void>): void
  /** Declares a test that runs alone. */
  serial(title: string, body: (t: TestContext) => void | Promise<void>): void
}

const shown = (value: unknown): string => inspect(value, { depth: 6, maxStringLength: 300, maxArrayLength: 30, breakLength: 120 })

type Failure = Omit<ConstructorParameters<typeof AssertionError>[0] & object, 'message'>

/** Contracts run many cases in one test: the message names the failing case and its values. */
const failure = (words: string, at: string | undefined, details: Failure = {}): AssertionError =>
  new AssertionError({ ...details, message: at === undefined ? words : `${words}. Case: ${at === '' ? 'the empty text' : at}` })

const hasMembers = (actual: unknown, expected: unknown): boolean => {
  if (typeof expected !== 'object' || expected === null || expected instanceof Date) return isDeepStrictEqual(actual, expected)
  if (typeof actual !== 'object' || actual === null) return false
  return Object.entries(expected).every(([name, value]) => hasMembers((actual as Readonly<Record<string, unknown>>)[name], value))
}

const checkError = <E extends Error>(error: unknown, { instanceOf, message, code }: ExpectedError<E> = {}, at?: string): E => {
  if (!(error instanceof Error)) throw failure(`Expected an Error to be thrown, but it was ${shown(error)}`, at)
  const { name, message: text } = error
  if (instanceOf !== undefined && !(error instanceof instanceOf))
    throw failure(`Expected an error of the class ${instanceOf.name}, but it was ${name}: ${text}`, at)
  const fits = typeof message === 'string' ? error.message === message : (message?.test(error.message) ?? true)
  if (!fits) throw failure(`Expected an error with the message ${String(message)}, but it was: ${error.message}`, at)
  if (code !== undefined && (error as NodeJS.ErrnoException).code !== code)
    throw failure(
      `Expected an error with the code ${code}, but it was ${shown((error as NodeJS.ErrnoException).code)}: ${error.message}`,
      at,
    )
  return error as E
}

class Assertions implements TestContext {
  readonly ends: (() => unknown)[] = []

  is(actual: unknown, expected: unknown, message?: string): void {
    if (!Object.is(actual, expected)) throw this.#differing(actual, expected, 'strictEqual', message)
  }

  not(actual: unknown, other: unknown, message?: string): void {
    if (Object.is(actual, other)) throw failure(`Expected something other than ${shown(other)}`, message)
  }

  true(actual: unknown, message?: string): void {
    this.is(actual, true, message)
  }

  false(actual: unknown, message?: string): void {
    this.is(actual, false, message)
  }

  truthy(actual: unknown, message?: string): void {
    if (!actual) throw failure(`Expected a value, but got ${shown(actual)}`, message)
  }

  deepEqual(actual: unknown, expected: unknown, message?: string): void {
    if (!isDeepStrictEqual(actual, expected)) throw this.#differing(actual, expected, 'deepStrictEqual', message)
  }

  like(actual: unknown, expected: Readonly<Record<string, unknown>>, message?: string): void {
    if (!hasMembers(actual, expected)) throw this.#differing(actual, expected, 'partialDeepStrictEqual', message)
  }

  regex(text: string, expression: RegExp, message?: string): void {
    if (!expression.test(text)) throw failure(`Expected text like ${expression}, but got ${shown(text)}`, message)
  }

  notRegex(text: string, expression: RegExp, message?: string): void {
    if (expression.test(text)) throw failure(`Expected text unlike ${expression}, but got ${shown(text)}`, message)
  }

  throws<E extends Error>(run: () => unknown, expected?: ExpectedError<E>, message?: string): E {
    let value: unknown
    try {
      value = run()
    } catch (error) {
      return checkError(error, expected, message)
    }
    throw this.#notThrown(value, expected, message)
  }

  async throwsAsync<E extends Error>(
    run: PromiseLike<unknown> | (() => PromiseLike<unknown>),
    expected?: ExpectedError<E>,
    message?: string,
  ): Promise<E> {
    let value: unknown
    try {
      value = await (typeof run === 'function' ? run() : run)
    } catch (error) {
      return checkError(error, expected, message)
    }
    throw this.#notThrown(value, expected, message)
  }

  notThrows(run: () => unknown, message?: string): void {
    try {
      run()
    } catch (error) {
      throw this.#thrown(error, message)
    }
  }

  async notThrowsAsync(run: PromiseLike<unknown> | (() => PromiseLike<unknown>), message?: string): Promise<void> {
    try {
      await (typeof run === 'function' ? run() : run)
    } catch (error) {
      throw this.#thrown(error, message)
    }
  }

  fail(message = 'The test failed'): void {
    throw failure(message, undefined)
  }

  log(...values: unknown[]): void {
    process.stderr.write(`${values.map(value => (typeof value === 'string' ? value : shown(value))).join(' ')}\n`)
  }

  teardown(end: () => unknown): void {
    this.ends.unshift(end)
  }

  #differing(actual: unknown, expected: unknown, operator: string, message: string | undefined): AssertionError {
    return failure(`Expected ${shown(expected)}, but got ${shown(actual)}`, message, { actual, expected, operator })
  }

  #notThrown(value: unknown, { instanceOf }: { readonly instanceOf?: unknown } = {}, message?: string): AssertionError {
    const { name } = typeof instanceOf === 'function' ? instanceOf : Error
    return failure(`Expected ${name} to be thrown, but the result was ${shown(value)}`, message)
  }

  #thrown(error: unknown, message: string | undefined): Error {
    const words = failure(`Expected no error, but ${error instanceof Error ? `${error.name}: ${error.message}` : shown(error)}`, message)
    return Object.assign(words, { cause: error })
  }
}

const isOfAva = (t: object): t is TestContext => 'is' in t && 'teardown' in t && 'throwsAsync' in t

/** The default of Vitest is 5 s. */
const limitMs = 120_000

const declaring =
  (declare: Declare<object>): ContractTest['serial'] =>
  (title, body) => {
    const run = async (t: object): Promise<void> => {
      if (isOfAva(t)) return body(t)
      const assertions = new Assertions()
      try {
        await body(assertions)
      } finally {
        for (const end of assertions.ends) await end()
      }
    }
    const isVitest = process.env['VITEST'] !== undefined
    if (isVitest) (declare as (...words: readonly unknown[]) => unknown)(title, run, limitMs)
    else declare(title, run)
  }

/** Adapts the `test` function of a runner for contracts. Idempotent. */
export const contractTest = (runner: TestRunner): ContractTest => {
  // Vitest and node:test run the tests of a file sequentially.
  const { serial = runner } = runner
  return Object.assign(declaring(runner), { serial: declaring(serial) })
}

/** The place where the next page continues. Fails if it is that of the page before: a store that ignores it would return the same page forever. */
export const advanced = <T>(t: Pick<TestContext, 'false'>, next: T | undefined, after: T | undefined): T | undefined => {
  t.false(next !== undefined && isDeepStrictEqual(next, after), `a page ends where the one before it did, at ${shown(after)}`)
  return next
}
