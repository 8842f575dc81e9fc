import { cp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { adminKey, type ChildServer, childServer, dataFolder } from './support/child-server.ts'
import { newDataset, ok } from './support/scene.ts'
import { drained, until } from './support/until.ts'

const stop = async (server: ChildServer): Promise<void> => {
  server.signal('SIGTERM')
  await server.ended
}

test('a search index that was replaced by an older one, as by another search plugin in between, is rebuilt', async t => {
  const folder = await dataFolder(t)
  const [index, older] = [join(folder, 'search'), join(folder, 'search-older')]
  const first = await childServer(t, folder)
  const key = await adminKey(first)
  const dataset = await newDataset(first.as(key), { name: 'Oak' })
  await drained(first.as(key))
  await stop(first)
  await cp(index, older, { recursive: true })

  const second = await childServer(t, folder)
  await ok(second.as(key)(`/api/reindex`, { method: 'POST' }))
  const progress = () => ok<{ state: string; reason: string }>(second.as(key)('/api/reindex'))
  await until('the rebuild', progress, ({ state, reason }) => state === 'done' && reason !== 'the index is new or incomplete')
  await ok(second.as(key)(`/api/datasets/${dataset}/title`, { method: 'PUT', json: { name: 'Beech' } }))
  await drained(second.as(key))
  await stop(second)
  await rm(index, { recursive: true })
  await rename(older, index)

  const third = await childServer(t, folder)
  const found = async () => (await ok<{ count: number }>(third.as(key)('/api/search?query=Beech'))).count
  t.is(await until('the new name to be found', found, count => count === 1), 1)
  const { reason } = await ok<{ reason: string }>(third.as(key)('/api/reindex'))
  t.is(reason, 'another index was in use meanwhile')
})
