import type { TestFn } from 'ava'

/** The real servers that tests can be given, by protocol; each address comes from `POUNCE_TEST_<NAME>_URL`. */
export type LiveServer = 'MONGODB' | 'S3' | 'ELASTICSEARCH' | 'RABBITMQ' | 'RABBITMQ_MANAGEMENT' | 'LDAP' | 'OIDC' | 'POSTGIS' | 'CLAMAV'

/** Tests of a real server. */
export interface LiveTests {
  /** Its address; tests that read it run only when it is there. */
  readonly url: (name: LiveServer) => string
  /** As `test`; reported as skipped, with the reason in the title, while an address is missing. */
  readonly test: TestFn
}

/** As `test`, for what this machine lacks the means to run: each test is reported as skipped with the reason in its title, never as passed; hooks do nothing. */
export const skippedBecause = (test: TestFn, reason: string): TestFn => {
  // A skip is the honest report here: the tests exist, and run wherever what they need does.
  const skipped = (title: string, run: Parameters<TestFn>[1]) => test.skip(`${title} (${reason})`, run as never)
  const nothing = Object.assign(() => undefined, { always: () => undefined })
  const hooks = { before: nothing, after: nothing, beforeEach: nothing, afterEach: nothing }
  return Object.assign(skipped, test, { serial: skipped, ...hooks }) as unknown as TestFn
}

/**
 * Tests that need real servers: `const { test: live, url } = liveTests(test, 'MONGODB')`. A contract gets `live` in place of `test`.
 * `npm run test:live` starts the servers.
 */
export const liveTests = (test: TestFn, ...names: readonly LiveServer[]): LiveTests => {
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
