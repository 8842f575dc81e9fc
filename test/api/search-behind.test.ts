import test, { type ExecutionContext } from 'ava'
import { SearchIndex } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import type { FtsSearch } from '../../plugins/search/fts/fts-search.ts'
import { pluginsOnStores } from '../support/faulty-stores.ts'
import { freshIndex } from '../support/fts-index.ts'
import { newPerson } from '../support/people.ts'
import { newDataset, ok, upload } from '../support/scene.ts'

const plugins = ['documents.sqlite', 'blobs.disk', ...pluginsOnStores.filter(id => id !== 'search.fts')]

interface Named {
  readonly name?: string
  readonly collectionname?: string
}

/** A server whose index can be made to stop applying changes, as when it has been unavailable and has a backlog. */
const setUp = async (t: ExecutionContext) => {
  const { index } = await freshIndex(t)
  const { promise, resolve: catchUp } = Promise.withResolvers<void>()
  let isBehind = false
  const behind = new Proxy(index, {
    get(target, member) {
      const value: unknown = Reflect.get(target, member, target)
      if (typeof value !== 'function') return value
      const call = (...values: unknown[]): unknown => Reflect.apply(value, target, values)
      if (member !== 'apply') return call
      return async (...values: Parameters<FtsSearch['apply']>) => {
        if (isBehind) await promise
        return call(...values)
      }
    },
  })
  const server = await bootForTest({ t, plugins, overrides: { [SearchIndex]: behind } })
  t.teardown(() => catchUp())
  const ann = await newPerson(server, 'ann')
  const found = async (query: string, call = ann.call): Promise<readonly string[]> => {
    const { results } = await ok<{ results: Named[] }>(call(`/api/search?query=${encodeURIComponent(query)}`))
    return results.map(({ name, collectionname }) => name ?? collectionname ?? '').sort()
  }
  const fallBehind = async (): Promise<void> => {
    await server.drained()
    isBehind = true
  }
  return { server, ann, found, fallBehind, catchUp }
}

test('the owner does not find resources in the trash, however far the index is behind', async t => {
  const { server, ann, found, fallBehind, catchUp } = await setUp(t)
  const dataset = await newDataset(ann.call, { name: 'Discarded walnut' })
  const other = await newDataset(ann.call, { name: 'Kept walnut' })
  const inside = await upload(ann.call, dataset, 'x', 'inside-walnut.txt')
  const shared = await upload(ann.call, dataset, 'x', 'shared-walnut.txt')
  await ok(ann.call(`/api/datasets/${other}/files/${shared}`, { method: 'POST', json: {} }))
  const { id: collection } = await ok<{ id: string }>(
    ann.call('/api/collections', { method: 'POST', json: { name: 'Collected walnut', description: '' } }),
  )
  await fallBehind()
  const all = ['Collected walnut', 'Discarded walnut', 'Kept walnut', 'inside-walnut.txt', 'shared-walnut.txt']
  t.deepEqual(await found('walnut'), all)
  await ok(ann.call(`/api/datasets/${dataset}`, { method: 'DELETE' }))
  await ok(ann.call(`/api/collections/${collection}`, { method: 'DELETE' }))
  const left = ['Kept walnut', 'shared-walnut.txt']
  t.deepEqual(await found('walnut'), left)
  t.deepEqual(await found('walnut', server.as(server.admin.key)), left)
  t.deepEqual(await found(`walnut in:${dataset}`), [])
  t.deepEqual(await found(`walnut in:${other}`), ['shared-walnut.txt'])
  t.deepEqual(await found(`contains:${inside}`), [])
  await ok(ann.call(`/api/datasets/restore/${dataset}`, { method: 'PUT' }))
  t.deepEqual(await found('walnut'), all.slice(1))
  catchUp()
  await server.drained()
  t.deepEqual(await found('walnut'), all.slice(1))
})

test('resources just moved to the trash are not counted in searches of their owner', async t => {
  const { server, ann, fallBehind, catchUp } = await setUp(t)
  const dataset = await newDataset(ann.call, { name: 'Discarded chestnut' })
  for (const name of ['a', 'b', 'c']) await upload(ann.call, dataset, 'x', `chestnut-${name}.txt`)
  await newDataset(ann.call, { name: 'Kept chestnut' })
  const json = encodeURIComponent(JSON.stringify([{ field_key: 'name', operator: ':', field_value: 'chestnut' }]))
  const requested = ['/api/search?query=chestnut', '/api/search?query=chestnut&size=0', `/api/search/json?query=${json}`]
  const totals = () => Promise.all(requested.map(async path => (await ok<{ total_size: number }>(ann.call(path))).total_size))
  await fallBehind()
  t.deepEqual(await totals(), [5, 5, 5])
  await ok(ann.call(`/api/datasets/${dataset}`, { method: 'DELETE' }))
  t.deepEqual(await totals(), [1, 1, 1])
  const first = await ok<{ next?: string; results: readonly unknown[] }>(ann.call('/api/search?query=chestnut&size=1'))
  t.is(first.results.length, 1)
  catchUp()
  await server.drained()
  t.deepEqual(await totals(), [1, 1, 1])
})

test('deleted resources are not found, however far the index is behind', async t => {
  const { ann, found, fallBehind } = await setUp(t)
  const dataset = await newDataset(ann.call, { name: 'Hornbeam' })
  const file = await upload(ann.call, dataset, 'x', 'hornbeam-one.txt')
  await upload(ann.call, dataset, 'x', 'hornbeam-two.txt')
  await fallBehind()
  await ok(ann.call(`/api/files/${file}`, { method: 'DELETE' }))
  t.deepEqual(await found('hornbeam'), ['Hornbeam', 'hornbeam-two.txt'])
  for (let n = 0; n < 2; n += 1) await ok(ann.call(`/api/datasets/${dataset}`, { method: 'DELETE' }))
  t.deepEqual(await found('hornbeam'), [])
})
