import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Extract } from 'pounce/sdk'

const wordsPerMinute = 200

/** Runs in a separate process, so a crash affects nothing else. */
export const extract: Extract = async ({ path, signal }) => {
  let words = 0
  for await (const line of createInterface({ input: createReadStream(path, { signal }) })) words += line.split(/\s+/).filter(Boolean).length
  return words === 0 ? { skipped: 'The file contains no words' } : { metadata: { minutes: Math.ceil(words / wordsPerMinute) } }
}
