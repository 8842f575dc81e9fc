import type { TestRunner } from './any-runner.ts'

/** `test` with a `skip` method, as in ava, vitest and node:test. */
export interface SkippingRunner extends TestRunner {
  skip(title: string, body: (t: object) => Promise<void>): unknown
}

/** Real servers for tests, by protocol; the URL of each is in `POUNCE_TEST_<NAME>_URL`. */
export type LiveServer = 'MONGODB' | 'S3' | 'ELASTICSEARCH' | 'RABBITMQ' | 'RABBITMQ_MANAGEMENT' | 'LDAP' | 'OIDC' | 'POSTGIS' | 'CLAMAV'

/** Tests of a real server. */
export interface LiveTests<T> {
  /** The URL of a server; tests that use it run only if it is set. */
  readonly url: (name: LiveServer) => string
  /** Like `test`; while a URL is missing, tests are reported as skipped with the reason in their title. */
  readonly test: T
}

/** Like `test`, for tests that cannot run on this machine: each is reported as skipped with the reason in its title, never as passed; hooks do nothing. */
export const skippedBecause = <T extends SkippingRunner>(test: T, reason: string): T => {
  // Skipped rather than omitted or passed: the tests exist, and run wherever their requirements are met.
  const skipped = (title: string, run: (t: object) => Promise<void>) => test.skip(`${title} (${reason})`, run)
  const nothing = Object.assign(() => undefined, { always: () => undefined })
  const hooks = { before: nothing, after: nothing, beforeEach: nothing, afterEach: nothing }
  return Object.assign(skipped, test, { serial: skipped, ...hooks }) as unknown as T
}

/**
 * Tests that need real servers: `const { test: live, url } = liveTests(test, 'MONGODB')`. Pass `live` to contracts instead of `test`. `npm run test:live`
 * starts the servers.
 */
export const liveTests = <T extends SkippingRunner>(test: T, ...names: readonly LiveServer[]): LiveTests<T> => {
  const variables = names.map(name => `POUNCE_TEST_${name}_URL`)
  const missing = variables.filter(variable => !process.env[variable])
  const url = (name: LiveServer): string => {
    const address = process.env[`POUNCE_TEST_${name}_URL`]
    if (!address) throw new Error(`POUNCE_TEST_${name}_URL is not set`)
    return address
  }
  if (missing.length === 0) return { url, test }
  return { url, test: skippedBecause(test, `${missing.join(', ')} not set`) }
}
