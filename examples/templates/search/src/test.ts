import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bootForTest, searchIndexContract } from 'pounce/sdk/testing'
import { plugin } from './index.ts'
import { MemorySearch } from './memory-search.ts'

searchIndexContract(test, async () => new MemorySearch())

test('the server finds uploaded files, even after a restart', async t => {
  const server = await bootForTest({ t, also: [plugin], without: ['search.fts'] })
  const me = server.as(server.admin.key)
  const body = new FormData()
  body.set('file', new Blob(['some text']), 'glacier.txt')
  const { id } = (await (await me('/api/files', { method: 'POST', body })).json()) as { readonly id: string }
  await server.drained()
  const find = async (): Promise<readonly string[]> => {
    const { results } = (await (await me('/api/search?query=glacier')).json()) as { readonly results: readonly { readonly id: string }[] }
    return results.map(each => each.id)
  }
  assert.deepEqual(await find(), [id])
  await server.restart()
  const limit = Date.now() + 30_000
  while ((await find()).length === 0 && Date.now() < limit) await new Promise(resolve => setTimeout(resolve, 50))
  assert.deepEqual(await find(), [id], 'the index was built again')
})
