import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Extract } from 'pounce/sdk'

/** Runs in a separate process without network, which may read only its input and its package. */
export const extract: Extract = async ({ path, signal }) => {
  let [lines, words] = [0, 0]
  for await (const line of createInterface({ input: createReadStream(path, { signal }) })) {
    lines += 1
    words += line.split(/\s+/).filter(Boolean).length
  }
  return words === 0 ? { skipped: 'The file contains no words' } : { metadata: { lines, words } }
}
