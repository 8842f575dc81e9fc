import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { blobStoreContract, blobStoreLocalPathContract } from '../../../sdk/testing/blob-store-contract.ts'
import { blobStoreCrc32Contract } from '../../../sdk/testing/blob-store-crc-contract.ts'
import { FixedClock } from '../../../sdk/testing/fixed-clock.ts'
import { freshStore } from './test-store.ts'

const makeStore = async (t: Parameters<typeof freshStore>[0]) => (await freshStore(t)).store

blobStoreContract(test, makeStore, () => new FixedClock().now())
blobStoreLocalPathContract(test, makeStore)
blobStoreCrc32Contract(test, makeStore)

test('a blob has a single key: other spellings of its numbers or its folder are not found', async t => {
  const store = await makeStore(t)
  const small = await store.put(Buffer.from('small'))
  const big = await store.put(Buffer.alloc(100_000, 'big'))
  const [, segment = '', offset = '', rest = ''] = /^s\/([^/]+)\/([^-]+)-(.+)$/.exec(small.key) ?? []
  const [, folder = '', time = '', afterTime = ''] = /^f\/([^/]+)\/([^-]+)-(.+)$/.exec(big.key) ?? []
  t.not(segment, '')
  t.not(folder, '')
  const otherFolder = folder === '00' ? '01' : '00'
  const spellings = [
    `s/${segment}/0${offset}-${rest}`,
    `s/${segment}/${offset}-0${rest}`,
    `s/${segment}/${offset}-${rest.toUpperCase()}`,
    `f/${folder}/0${time}-${afterTime}`,
    `f/${folder}/${time.padStart(11, 'z')}-${afterTime}`,
    `f/${otherFolder}/${time}-${afterTime}`,
  ]
  for (const key of spellings) {
    t.is(await store.get(key), undefined, key)
    t.is(await store.stat(key), undefined, key)
    await store.remove(key)
  }
  t.is((await store.stat(small.key))?.sizeBytes, 5)
  t.is((await store.stat(big.key))?.sizeBytes, 100_000)
})

test('other files in the folders of the store are not listed', async t => {
  const { store, folder } = await freshStore(t)
  const { key } = await store.put(Buffer.alloc(100_000, 'big'))
  for (const path of ['files/.DS_Store', 'beginnings/.DS_Store', 'segments/.DS_Store', join('files', key.split('/')[1] ?? '', '.DS_Store')])
    await writeFile(join(folder, path), 'stray')
  t.deepEqual(
    (await Array.fromAsync(store.list())).map(entry => entry.key),
    [key],
  )
})
