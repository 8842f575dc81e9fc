import type { TestRunner } from './any-runner.ts'

/** `test` with a way to skip, as ava, vitest and node:test have it. */
export interface SkippingRunner extends TestRunner {
  skip(title: string, body: (t: object) => Promise<void>): unknown
}

/** The real servers that tests can be given, by protocol; each address comes from `POUNCE_TEST_<NAME>_URL`. */
export type LiveServer = 'MONGODB' | 'S3' | 'ELASTICSEARCH' | 'RABBITMQ' | 'RABBITMQ_MANAGEMENT' | 'LDAP' | 'OIDC' | 'POSTGIS' | 'CLAMAV'

/** Tests of a real server. */
export interface LiveTests<T> {
  /** Its address; tests that read it run only when it is there. */
  readonly url: (name: LiveServer) => string
  /** As `test`; reported as skipped, with the reason in the title, while an address is missing. */
  readonly test: T
}

/** As `test`, for what this machine lacks the means to run: each test is reported as skipped with the reason in its title, never as passed; hooks do nothing. */
export const skippedBecause = <T extends SkippingRunner>(test: T, reason: string): T => {
  // A skip is the honest report here: the tests exist, and run wherever what they need does.
  const skipped = (title: string, run: (t: object) => Promise<void>) => test.skip(`${title} (${reason})`, run)
  const nothing = Object.assign(() => undefined, { always: () => undefined })
  const hooks = { before: nothing, after: nothing, beforeEach: nothing, afterEach: nothing }
  return Object.assign(skipped, test, { serial: skipped, ...hooks }) as unknown as T
}

/**
 * Tests that need real servers: `const { test: live, url } = liveTests(test, 'MONGODB')`. A contract gets `live` in place of `test`.
 * `npm run test:live` starts the servers.
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
