import type { TestFetch } from 'pounce/sdk/testing'
import { eachOf } from '../../test/support/killed-server.ts'
import { sha256 } from '../../test/support/main-job.ts'
import { ok } from '../../test/support/scene.ts'
import { until } from '../../test/support/until.ts'
import type { FaultExtractor } from './extractor.ts'
import type { Acked } from './uploading.ts'

/** The outcome of the uploads and of their jobs. */
export interface Findings {
  /** Violations, one line each. */
  readonly faults: readonly string[]
  readonly jobs: number
  /** Deliveries of a job after its first. */
  readonly duplicates: number
}

interface Run {
  readonly extractor_id: string
  readonly status: string
  readonly job_id: string
}

const runsOf = (call: TestFetch, id: string) => ok<Run[]>(call(`/api/files/${id}/extractions`))

/** Waits until the jobs of all extractors have finished for every upload, then verifies records, bytes, jobs and the extractors' results. */
export const check = async (
  call: TestFetch,
  acked: readonly Acked[],
  extractors: readonly FaultExtractor[],
  limitMs: number,
): Promise<Findings> => {
  const faults: string[] = []
  const names = extractors.map(({ name }) => name)
  const end = performance.now() + limitMs
  let jobs = 0
  await eachOf(acked, async ({ id, name, sizeBytes, sha256: digest }) => {
    const isOver = (runs: readonly Run[]): boolean =>
      names.every(each => runs.some(run => run.extractor_id === each && run.status === 'DONE'))
    const runs = await until(`the runs on ${name}`, () => runsOf(call, id), isOver, Math.max(1000, end - performance.now())).catch(
      (error: unknown) => {
        faults.push(`${name}: ${String(error).slice(0, 300)}`)
        return runsOf(call, id)
      },
    )
    for (const each of names) {
      const own = runs.filter(run => run.extractor_id === each)
      jobs += own.length
      if (own.length !== 1) faults.push(`${name}: ${own.length} runs of ${each}`)
      for (const { job_id } of own)
        if (!extractors.some(extractor => extractor.deliveries.has(job_id))) faults.push(`${name}: ${each} never got its job ${job_id}`)
    }
    const info = await ok<Record<string, string>>(call(`/api/files/${id}/metadata`))
    if (info['filename'] !== name || info['size'] !== String(sizeBytes) || info['status'] !== 'PROCESSED')
      faults.push(`${name} has the record ${info['filename']}, ${info['size']} bytes, ${info['status']}`)
    const bytes = Buffer.from(await (await call(`/api/files/${id}/blob?tracking=false`)).arrayBuffer())
    if (sha256(bytes) !== digest) faults.push(`${name} has other bytes`)
    for (const each of names) {
      const written = await ok<{ content: { sha256: string } }[]>(call(`/api/files/${id}/metadata.jsonld?extractor=${each}`))
      if (!written.some(({ content }) => content.sha256 === digest)) faults.push(`${name}: ${each} left no metadata`)
    }
  })
  const duplicates = extractors.flatMap(({ deliveries }) => [...deliveries.values()]).reduce((sum, count) => sum + count - 1, 0)
  return { faults, jobs, duplicates }
}
