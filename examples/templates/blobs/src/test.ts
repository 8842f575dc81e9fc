import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { BlobStore, type Installation } from 'pounce/sdk'
import { blobStoreContract, bootForTest } from 'pounce/sdk/testing'
import { FolderBlobs } from './folder-blobs.ts'
import { plugin } from './index.ts'

blobStoreContract(test, async t => {
  const folder = await mkdtemp(join(tmpdir(), 'template-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const store = new FolderBlobs({ folder }, {} as Installation)
  await store.start()
  return store
})

test('the server stores uploaded files in the folder', async t => {
  const server = await bootForTest({ t, also: [plugin], without: ['blobs.disk'] })
  const me = server.as(server.admin.key)
  const body = new FormData()
  body.set('file', new Blob(['some text']), 'notes.txt')
  const { id } = (await (await me('/api/files', { method: 'POST', body })).json()) as { readonly id: string }
  await server.restart()
  assert.equal(await (await me(`/api/files/${id}`)).text(), 'some text')
  const stored = await Array.fromAsync(server.get(BlobStore).list())
  assert.equal(stored.length > 0, true)
})
