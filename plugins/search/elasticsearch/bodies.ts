import { setImmediate } from 'node:timers/promises'
import type { IndexChange } from 'pounce/sdk/search'
import type { Write } from './bulk-writer.ts'
import { toWrite } from './entry.ts'

const maxBytes = 2_000_000
const maxWrites = 1000
const sliceMs = 8

/**
 * Serializes changes, in portions of the size of one request. Only one portion is in memory at a time, and the event loop can run other
 * tasks in between.
 */
export async function* bodiesOf(changes: Iterable<IndexChange> | AsyncIterable<IndexChange>): AsyncGenerator<readonly Write[]> {
  let body: Write[] = []
  let bytes = 0
  let end = performance.now() + sliceMs
  for await (const change of changes) {
    if (performance.now() > end) {
      await setImmediate()
      end = performance.now() + sliceMs
    }
    const write = toWrite(change)
    const size = Buffer.byteLength(write.source)
    if (body.length >= maxWrites || (body.length > 0 && bytes + size > maxBytes)) {
      yield body
      body = []
      bytes = 0
    }
    body.push(write)
    bytes += size
  }
  if (body.length > 0) yield body
}
