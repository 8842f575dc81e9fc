import type { TestFetch } from 'pounce/sdk/testing'
import { ok } from './scene.ts'
import { until } from './until.ts'

/** Waits until all extractors have finished with a file; resolves to the last status of each. */
export const extracted = (call: TestFetch, file: string, limitMs?: number): Promise<Readonly<Record<string, string>>> =>
  until(
    `the extraction of ${file} to finish`,
    () => ok<Record<string, string>>(call(`/api/extractions/${file}/status`)),
    ({ Status }) => Status !== undefined && Status !== 'Processing',
    limitMs,
  )
