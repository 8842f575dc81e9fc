import { randomBytes } from 'node:crypto'

const free = /^([\da-f]{8})-([\da-f]{4})-4([\da-f]{3})-[89ab]([\da-f]{3})-([\da-f]{6})[\da-f]{6}$/

/**
 * A version 4 UUID with the 24 digits of a job's id, so that a reply without `job_id` can be assigned to it: extractors return it unchanged. The
 * other bits are random.
 */
export function correlationIdOf(jobId: string): string {
  const rest = randomBytes(4).toString('hex')
  const variant = '89ab'[Number.parseInt(rest.slice(0, 1), 16) % 4]
  const [a, b, c, d, e] = [jobId.slice(0, 8), jobId.slice(8, 12), jobId.slice(12, 15), jobId.slice(15, 18), jobId.slice(18)]
  return `${a}-${b}-4${c}-${variant}${d}-${e}${rest.slice(2)}`
}

/** The job's id in a correlation id of ours. For other UUIDs it is the id of no job. */
export function jobIdIn(correlationId: unknown): string | undefined {
  if (typeof correlationId !== 'string') return undefined
  return free.exec(correlationId)?.slice(1).join('')
}
