import type { TestFn } from 'ava'
import { liveTests, skippedBecause } from 'pounce/sdk/testing'
import { extractorTests } from './extractor-tests.ts'
import { installPyclowder, type Release } from './pyclowder.ts'

const needed = ['RABBITMQ', 'RABBITMQ_MANAGEMENT'] as const

/** Tests of a release; reported as skipped, with the reason, without a broker or pyclowder. */
export const liveExtractors = async (test: TestFn, release: Release): Promise<void> => {
  const { test: live, url } = liveTests(test, ...needed)
  const hasBroker = needed.every(name => process.env[`POUNCE_TEST_${name}_URL`])
  const missing = hasBroker ? await installPyclowder(release) : undefined
  extractorTests(missing === undefined ? live : skippedBecause(test, missing), url, release)
}
