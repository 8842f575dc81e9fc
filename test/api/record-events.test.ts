import test from 'ava'
import { type AnyEvent, definePlugin, onBatch, Users } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { idOf } from '../support/calls.ts'
import { newCollection, newDataset, newSpace, recordPlugins, type Somebody, somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'

const received: AnyEvent[] = []

class Listen {
  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    received.push(...events)
  }
}

const listener = definePlugin({ id: 'test.listener', summary: 'Receives all events.', handlers: [onBatch('*', Listen, 'listen')] })
const server = await bootForTest({ plugins: recordPlugins, also: [listener] })
test.after.always(() => server.stop())

/** The events emitted during `work`: type, varying parts, and data. */
const saidBy = async (who: Somebody, work: () => Promise<unknown>) => {
  await server.drained()
  const before = received.length
  await work()
  await server.drained()
  const expectedEvent = received.slice(before)
  return expectedEvent.map(({ type, subject, actor, data }) => ({ type, id: subject.id, byThem: actor === who.id, data }))
}

test.serial('each change of a dataset emits one event, with the change and the actor', async t => {
  const ann = await somebody(server)
  const [space, collection] = [await newSpace(ann), await newCollection(ann)]
  let id = ''
  const made = await saidBy(ann, async () => {
    id = await newDataset(ann, { name: 'Lake', space: [space], collection: [collection] })
  })
  const expectedEvent = (type: string, data: object) => ({ type, id, byThem: true, data })
  t.deepEqual(made, [
    expectedEvent('dataset.created', {}),
    expectedEvent('dataset.attached', { other: { kind: 'space', id: space } }),
    expectedEvent('dataset.attached', { other: { kind: 'collection', id: collection } }),
  ])
  const path = `/api/datasets/${id}`
  // The event is emitted after the end of the response.
  const download = async (): Promise<void> => {
    await ann.get(`${path}/download`)
    await until('the download event', () => received.some(({ type, subject }) => type === 'dataset.downloaded' && subject.id === id))
  }
  const steps: readonly (readonly [() => Promise<unknown>, object[]])[] = [
    [() => ann.put(`${path}/title`, { name: 'Pond' }), [expectedEvent('dataset.updated', { fields: ['name'] })]],
    [
      () => ann.post(`${path}/editing`, { name: 'Sea', description: '' }),
      [expectedEvent('dataset.updated', { fields: ['name', 'description'] })],
    ],
    [() => ann.post(`${path}/creator`, { creator: 'A' }), [expectedEvent('dataset.updated', { fields: ['creators'] })]],
    [() => ann.post(`${path}/creator`, { creator: 'A' }), []],
    [() => ann.put(`${path}/access?access=PUBLIC`), [expectedEvent('dataset.updated', { fields: ['access'] })]],
    [
      () => ann.post(`/api/spaces/${space}/removeDataset/${id}`),
      [expectedEvent('dataset.detached', { other: { kind: 'space', id: space } })],
    ],
    [() => ann.put(`${path}/title`, { name: '' }), []],
    [download, [expectedEvent('dataset.downloaded', { sizeBytes: 22, entries: 0 })]],
    [() => ann.remove(path), [expectedEvent('dataset.trashed', {})]],
    [() => ann.put(`/api/datasets/restore/${id}`), [expectedEvent('dataset.restored', {})]],
    [() => ann.put(`/api/datasets/restore/${id}`), []],
    [() => ann.remove(path), [expectedEvent('dataset.trashed', {})]],
    [
      () => ann.remove(path),
      [expectedEvent('dataset.removed', { wasTrashed: true, name: 'Sea', spaces: [], collections: [collection], author: ann.id })],
    ],
  ]
  for (const [at, [work, wanted]] of steps.entries()) t.deepEqual(await saidBy(ann, work), wanted, `step ${at}`)
})

test.serial('changes of collections and folders emit events', async t => {
  const ann = await somebody(server)
  const space = await newSpace(ann)
  const [top, child] = [await newCollection(ann, { space }), await newCollection(ann)]
  const expectedEvent = (type: string, id: string, data: object) => ({ type, id, byThem: true, data })
  const inSpace = { other: { kind: 'space', id: space } }
  const inTop = { other: { kind: 'collection', id: top } }
  t.deepEqual(await saidBy(ann, () => ann.post(`/api/collections/${top}/addSubCollection/${child}`)), [
    expectedEvent('collection.attached', child, inTop),
    expectedEvent('collection.attached', child, inSpace),
  ])
  t.deepEqual(await saidBy(ann, () => ann.post(`/api/spaces/${space}/removeCollection/${top}?removeDatasets=false`)), [
    expectedEvent('collection.detached', top, inSpace),
    expectedEvent('collection.detached', child, inSpace),
  ])
  t.deepEqual(await saidBy(ann, () => ann.post(`/api/collections/${top}/removeSubCollection/${child}`)), [
    expectedEvent('collection.detached', child, inTop),
  ])
  t.deepEqual(await saidBy(ann, () => ann.put(`/api/collections/${top}/title`, { name: 'T' })), [
    expectedEvent('collection.updated', top, { fields: ['name'] }),
  ])
  const dataset = await newDataset(ann)
  let folder = ''
  const made = await saidBy(ann, async () => {
    folder = await idOf(ann.post(`/api/datasets/${dataset}/newFolder`, { name: 'f', parentId: dataset, parentType: 'dataset' }))
  })
  t.deepEqual(made, [expectedEvent('folder.created', folder, { dataset })])
  t.deepEqual(await saidBy(ann, () => ann.put(`/api/datasets/${dataset}/updateName/${folder}`, { name: 'g' })), [
    expectedEvent('folder.updated', folder, { dataset }),
  ])
  t.deepEqual(await saidBy(ann, () => ann.remove(`/api/datasets/${dataset}/deleteFolder/${folder}`)), [
    expectedEvent('folder.removed', folder, { dataset, parent: { kind: 'dataset', id: dataset }, author: ann.id }),
  ])
})

test.serial('changes of a space emit events', async t => {
  const ann = await somebody(server)
  let id = ''
  const made = await saidBy(ann, async () => {
    id = await newSpace(ann, 'Space')
  })
  const expectedEvent = (type: string, data: object) => ({ type, id, byThem: true, data })
  const role = (await server.get(Users).roles()).find(({ name }) => name === 'Admin')?.id
  t.deepEqual(made, [expectedEvent('space.created', {}), expectedEvent('space.member-changed', { user: ann.id, change: 'added', role })])
  const update = { name: 'New', description: '', timetolive: '720', enabled: false }
  t.deepEqual(await saidBy(ann, () => ann.post(`/api/spaces/${id}/update`, update)), [expectedEvent('space.updated', { fields: ['name'] })])
  t.deepEqual(await saidBy(ann, () => ann.post(`/api/spaces/${id}/update`, update)), [])
  const removed = await saidBy(ann, () => ann.remove(`/api/spaces/${id}`))
  t.deepEqual(removed[0], expectedEvent('space.removed', { name: 'New' }))
})
