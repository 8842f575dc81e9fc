import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { BlobStore } from '../ports/blob-store.ts'
import type { ContractTest, TestContext } from './any-runner.ts'

const MB = 1024 * 1024
const flowBytes = 128 * MB
/** Buffering more than this means that there is no back-pressure. */
const maxHeldBytes = 40 * MB
/** Each measurement collects garbage first, which takes longer than the data transfer in between. */
const lookEveryBytes = 16 * MB

/** The memory used by buffers, excluding garbage. */
function bytesInUse(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  // Memory found by the first collection is freed on another thread; the second one waits for that.
  collect()
  return process.memoryUsage().arrayBuffers
}

/** Memory during large transfers. Part of `blobStoreContract`. */
export function blobStoreFlowContract(test: ContractTest, makeStore: (t: TestContext) => Promise<BlobStore>): void {
  test.serial('128 MB are written and read without being buffered in memory', async t => {
    const store = await makeStore(t)
    const before = bytesInUse()
    let most = 0
    let passed = 0
    const look = (bytes: number): void => {
      const isTime = Math.floor((passed + bytes) / lookEveryBytes) > Math.floor(passed / lookEveryBytes)
      passed += bytes
      if (isTime) most = Math.max(most, bytesInUse() - before)
    }
    const piece = Buffer.alloc(MB, 'flow')
    const digest = createHash('sha256')
    const source = Readable.from(
      (function* () {
        for (let at = 0; at < flowBytes / MB; at += 1) {
          look(MB)
          const next = Buffer.from(piece)
          next.writeUInt32LE(at, 0)
          digest.update(next)
          yield next
        }
      })(),
      { objectMode: false },
    )
    const { key, sizeBytes, sha256 } = await store.put(source)
    t.is(sizeBytes, flowBytes)
    t.is(sha256, digest.digest('hex'))
    const back = createHash('sha256')
    for await (const part of (await store.get(key)) ?? []) {
      look(part.length)
      back.update(part)
    }
    t.is(back.digest('hex'), sha256)
    t.true(most < maxHeldBytes, `${most} bytes were buffered`)
  })
}
