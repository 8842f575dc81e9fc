import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { ExtractorInput, ExtractorOutput } from 'pounce/sdk'

const algorithms = ['sha256', 'sha512', 'md5'] as const
const progressEveryBytes = 1 << 30

/** Hashes a file of any size in one pass. Throws when its length differs from the recorded one. */
export async function extract(input: ExtractorInput): Promise<ExtractorOutput> {
  const hashes = algorithms.map(algorithm => createHash(algorithm))
  let sizeBytes = 0
  let reportAt = progressEveryBytes
  for await (const chunk of createReadStream(input.path, { highWaterMark: 1 << 20, signal: input.signal })) {
    for (const hash of hashes) hash.update(chunk)
    sizeBytes += chunk.length
    if (sizeBytes >= reportAt) {
      input.progress(`${Math.floor((100 * sizeBytes) / input.sizeBytes)} % hashed`)
      reportAt += progressEveryBytes
    }
  }
  if (sizeBytes !== input.sizeBytes) throw new Error(`The file has ${sizeBytes} bytes, but ${input.sizeBytes} were expected.`)
  const digests = Object.fromEntries(algorithms.map((algorithm, at) => [algorithm, hashes[at]?.digest('hex')]))
  return { metadata: { ...digests, sizeBytes } }
}
