import { contractTest, type TestRunner } from './any-runner.ts'
import { type MakeBlobStore, testBytes } from './blob-store-contract.ts'

/** The contract of the capability `temporaryUrl`, for a store that returns URLs for blobs longer than 100 bytes. */
export function blobStoreTemporaryUrlContract(runner: TestRunner, makeStore: MakeBlobStore): void {
  const test = contractTest(runner)
  const answer = { filename: 'größe "1".html', contentType: 'text/html', expiresInMs: 60_000 }

  test('anyone can download exactly the bytes from a temporary URL, as an attachment with their name', async t => {
    const store = await makeStore(t)
    for (const size of [101, 8_000_000]) {
      const bytes = testBytes(size)
      const { key, sizeBytes } = await store.put(bytes)
      const response = await fetch((await store.temporaryUrl?.(key, { ...answer, sizeBytes })) ?? '')
      t.is(response.status, 200)
      t.is(response.headers.get('content-type'), 'text/html')
      t.regex(response.headers.get('content-disposition') ?? '', /^attachment; .*gr%C3%B6%C3%9Fe%20%221%22\.html$/)
      t.true(Buffer.from(await response.arrayBuffer()).equals(bytes))
    }
  })

  test('a temporary URL is valid for reading one blob, until it expires', async t => {
    const store = await makeStore(t)
    const [one, other] = await Promise.all([store.put(testBytes(500)), store.put(testBytes(600))])
    const address = (await store.temporaryUrl?.(one.key, { ...answer, sizeBytes: 500 })) ?? ''
    t.true((await fetch(address)).ok)
    t.false((await fetch(address.replace(one.key, other.key))).ok)
    t.false((await fetch(address, { method: 'DELETE' })).ok)
    t.false((await fetch(address, { method: 'PUT', body: 'x' })).ok)
    t.false((await fetch(address.replace('text%2Fhtml', 'text%2Fplain'))).ok)
    t.is((await store.stat(one.key))?.sizeBytes, 500)
    const short = (await store.temporaryUrl?.(one.key, { ...answer, sizeBytes: 500, expiresInMs: 4000 })) ?? ''
    let { status } = await fetch(short)
    t.is(status, 200)
    for (const end = performance.now() + 20_000; status === 200 && performance.now() < end; ) status = (await fetch(short)).status
    t.is(status, 403)
  })

  test('there is no temporary URL for short blobs and unknown keys', async t => {
    const store = await makeStore(t)
    const { key } = await store.put(testBytes(100))
    t.is(await store.temporaryUrl?.(key, { ...answer, sizeBytes: 100 }), undefined)
    for (const wrong of ['', '..', '../../x', `${key}x`]) t.is(await store.temporaryUrl?.(wrong, { ...answer, sizeBytes: 500 }), undefined)
  })
}
