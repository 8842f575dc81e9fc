import { crc32 } from 'node:zlib'
import { contractTest, type TestRunner } from './any-runner.ts'
import { type MakeBlobStore, testBytes } from './blob-store-contract.ts'

/** The contract of the capability `crc32`. */
export function blobStoreCrc32Contract(runner: TestRunner, makeStore: MakeBlobStore): void {
  const test = contractTest(runner)
  test('the CRC-32, if available, is that of the bytes', async t => {
    const store = await makeStore(t)
    let reported = 0
    for (const size of [0, 1, 65_535, 65_536, 65_537, 1_000_000, 16 * 65_536]) {
      const bytes = testBytes(size)
      const { key } = await store.put(bytes)
      const crc = await store.crc32?.(key)
      if (crc === undefined) continue
      reported += 1
      t.is(crc, crc32(bytes), `${size}`)
    }
    t.true(reported > 0)
  })

  test('an unknown key has no CRC-32', async t => {
    const store = await makeStore(t)
    const { key } = await store.put(testBytes(200_000))
    await store.remove(key)
    for (const each of [key, '', '..', '../../etc/passwd']) t.is(await store.crc32?.(each), undefined, each)
  })
}
