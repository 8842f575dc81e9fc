import type { TestFn } from 'ava'
import { liveTests } from 'pounce/sdk/testing'
import { extractorTests } from './extractor-tests.ts'
import { installPyclowder, type Release } from './pyclowder.ts'

const needed = ['RABBITMQ', 'RABBITMQ_MANAGEMENT'] as const

/** The tests of a release; reported as skipped, with the reason, where there is no broker or no pyclowder. */
export const liveExtractors = async (test: TestFn, release: Release): Promise<void> => {
  const { test: live, url } = liveTests(test, ...needed)
  const hasBroker = needed.every(name => process.env[`POUNCE_TEST_${name}_URL`])
  const missing = hasBroker ? await installPyclowder(release) : undefined
  const skipped = (title: string, run: Parameters<TestFn>[1]) => test.skip(`${title} (${missing})`, run as never)
  const nothing = Object.assign(() => undefined, { always: () => undefined })
  const hooks = { before: nothing, after: nothing }
  const reported = missing === undefined ? live : (Object.assign(skipped, test, { serial: skipped, ...hooks }) as unknown as TestFn)
  extractorTests(reported, url, release)
}
