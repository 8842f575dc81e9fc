import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { newSensor, newStream } from '../support/geostreams.ts'
import { listen, of } from '../support/live-events.ts'
import { newFolder, ok, refusal, upload } from '../support/scene.ts'
import { letIn, newCollection, newDataset, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'

const server = await bootForTest({ config: { access: { private: true } } })
test.after.always(() => server.stop())

/** Runs `work` and waits until a stream with the filter has received the events. Resolves to `type subject` of all received events. */
const receivedBy = async (who: Somebody, query: string, wanted: readonly string[], work: () => Promise<unknown>) => {
  await server.drained()
  const [stream, all] = [await listen(server.url, who.key, query), await listen(server.url, who.key)]
  const lines = () => stream.events.map(({ type, subject }) => `${type} ${subject}`)
  await work()
  await server.drained()
  const last = await newDataset(who)
  await all.first('the last event', of('dataset.created', last))
  await until(`${wanted}, not only ${lines()}`, () => wanted.every(line => lines().includes(line)))
  for (const each of [stream, all]) each.close()
  return lines().toSorted()
}

test('a folder as `id` selects deletions in it and moves out of it', async t => {
  const ann = await somebody(server, 'ann')
  const dataset = await newDataset(ann)
  const folder = await newFolder(ann.call, dataset, 'folder')
  const sub = await newFolder(ann.call, dataset, 'sub', folder)
  const [deleted, moved] = [
    await upload(ann.call, dataset, 'x', 'a.txt', { query: `extract=false&folder_id=${folder}` }),
    await upload(ann.call, dataset, 'x', 'b.txt', { query: `extract=false&folder_id=${folder}` }),
  ]
  const wanted = [`file.deleted file/${deleted}`, `file.moved file/${moved}`, `folder.deleted folder/${sub}`]
  const received = await receivedBy(ann, `?id=${folder}`, wanted, async () => {
    await ann.post(`/api/datasets/${dataset}/moveToDataset/${folder}/${moved}`)
    await ok(ann.call(`/api/files/${deleted}`, { method: 'DELETE' }))
    await ann.remove(`/api/datasets/${dataset}/deleteFolder/${sub}`)
  })
  t.deepEqual(received, wanted)
})

test('a space or a collection as `id` selects changes of the datasets and collections in it, including deletion', async t => {
  const ann = await somebody(server, 'ann')
  const [space, collection] = [await newSpace(ann), await newCollection(ann)]
  const dataset = await newDataset(ann, { space: [space], collection: [collection] })
  const child = await newCollection(ann)
  await ann.post(`/api/collections/${collection}/addSubCollection/${child}`)
  const folder = await newFolder(ann.call, dataset, 'folder')
  const updated = [`collection.updated collection/${child}`, `dataset.updated dataset/${dataset}`]
  const rename = async () => {
    await ann.put(`/api/datasets/${dataset}/title`, { name: 'renamed' })
    await ann.put(`/api/collections/${child}/title`, { name: 'renamed' })
    await ann.put(`/api/datasets/${dataset}/updateName/${folder}`, { name: 'not right in it' })
  }
  t.deepEqual(await receivedBy(ann, `?id=${collection}`, updated, rename), updated)
  const inSpace = updated.slice(1)
  const again = async () => {
    await ann.put(`/api/datasets/${dataset}/title`, { name: 'renamed again' })
  }
  t.deepEqual(await receivedBy(ann, `?id=${space}`, inSpace, again), inSpace)
  // One at a time: an event whose resource has been permanently deleted meanwhile cannot be checked, and is not sent.
  for (const gone of [`dataset.trashed dataset/${dataset}`, `dataset.deleted dataset/${dataset}`])
    t.deepEqual(await receivedBy(ann, `?id=${collection}`, [gone], () => ann.remove(`/api/datasets/${dataset}`)), [gone])
})

test('tagging a section of a file is selected by the id of the file, and by `mine` for its creator', async t => {
  const ann = await somebody(server, 'ann')
  const file = await upload(ann.call, await newDataset(ann))
  const { id } = await ok<{ id: string }>(ann.call('/api/sections', { method: 'POST', json: { file_id: file, startTime: 1, endTime: 2 } }))
  const tag = (name: string) => () => ann.post(`/api/sections/${id}/tags`, { tags: [name] })
  const wanted = [`tags.added section/${id}`]
  t.deepEqual(await receivedBy(ann, `?id=${file}`, wanted, tag('one')), wanted)
  t.deepEqual(await receivedBy(ann, '?mine=true&kind=section', wanted, tag('two')), wanted)
})

test('a space selects changes of the sections of files in it', async t => {
  const ann = await somebody(server, 'ann')
  const space = await newSpace(ann)
  const file = await upload(ann.call, await newDataset(ann, { space: [space] }))
  const { id } = await ok<{ id: string }>(ann.call('/api/sections', { method: 'POST', json: { file_id: file, startTime: 1, endTime: 2 } }))
  const wanted = [`tags.added section/${id}`, `tags.deleted section/${id}`]
  const received = await receivedBy(ann, `?space=${space}`, wanted, async () => {
    await ann.post(`/api/sections/${id}/tags`, { tags: ['one'] })
    await ann.post(`/api/sections/${id}/tags/remove`, { tags: ['one'] })
  })
  t.deepEqual(received, wanted)
})

test('the id of an activity selects its events, for those who may receive them', async t => {
  const [ann, bob] = [await somebody(server, 'ann'), await somebody(server, 'bob')]
  const dataset = await newDataset(ann)
  const { id } = await ok<{ id: string }>(
    ann.call('/api/bulk', { method: 'POST', json: { act: 'tag', resources: [{ type: 'dataset', id: dataset }], tags: ['x'] } }),
  )
  const streams = await Promise.all([ann, bob].map(({ key }) => listen(server.url, key, `?since=0&id=${id}`)))
  await streams[0]?.first('the end of the job', of('bulk.finished', id))
  await server.drained()
  t.deepEqual(streams[1]?.events, [])
  for (const each of streams) each.close()
})

test('`mine` selects permanent deletions of own resources, and nothing of other users', async t => {
  const [ann, bob] = [await somebody(server, 'ann'), await somebody(server, 'bob')]
  const space = await newSpace(bob)
  await letIn(bob, space, 'Editor', ann)
  const dataset = await newDataset(ann, { space: [space] })
  const file = await upload(ann.call, dataset)
  await ann.remove(`/api/datasets/${dataset}`)
  const wanted = [`dataset.deleted dataset/${dataset}`, `file.deleted file/${file}`]
  const query = '?mine=true&type=dataset.deleted&type=file.deleted'
  t.deepEqual(await receivedBy(ann, query, wanted, () => ann.remove('/api/datasets/emptyTrash')), wanted)
  const second = await newDataset(ann, { space: [space] })
  t.deepEqual(await receivedBy(bob, '?mine=true&type=dataset.deleted', [], () => ann.remove(`/api/datasets/${second}`)), [])
})

test('an `id` that the caller may not view selects nothing', async t => {
  const [ann, bob] = [await somebody(server, 'ann'), await somebody(server, 'bob')]
  const [space, hidden] = [await newSpace(ann), await newCollection(ann)]
  await letIn(ann, space, 'Editor', bob)
  const dataset = await newDataset(ann, { space: [space], collection: [hidden] })
  const rename = () => bob.put(`/api/datasets/${dataset}/title`, { name: 'renamed' })
  t.deepEqual(await receivedBy(bob, `?id=${hidden}`, [], rename), [])
})

test('sensors and streams have the ids of the API in events and filters', async t => {
  const ann = await somebody(server, 'ann')
  const feature = { name: 'gauge', type: 'Feature', geometry: { type: 'Point', coordinates: [7, 50, 0] }, properties: {} }
  const add = async (path: string, more: object = {}) =>
    (await ok<{ id: number }>(ann.call(`/api/geostreams/${path}`, { method: 'POST', json: { ...feature, ...more } }))).id
  const sensor = await add('sensors')
  const streams = [await listen(server.url, ann.key, `?id=${sensor}`), await listen(server.url, ann.key, '?kind=stream')]
  const stream = await add('streams', { sensor_id: String(sensor) })
  for (const each of streams) {
    const created = await each.first('the stream', of('stream.created', String(stream)))
    t.is(created.subject, `stream/${stream}`)
    t.like(created.data, { id: String(stream), name: 'gauge', sensor: String(sensor) })
    each.close()
  }
})

test('the first part of an event type is a valid kind; an unknown kind gets 400 with the valid ones', async t => {
  const ann = await somebody(server, 'ann')
  const dataset = await newDataset(ann)
  await server.drained()
  const streams = [await listen(server.url, ann.key, '?kind=extraction'), await listen(server.url, ann.key, '?kind=job')]
  await upload(ann.call, dataset, 'a,b\n1,2\n', 'table.csv', { type: 'text/csv', query: '' })
  for (const stream of streams) {
    await stream.first('its end', of('extraction.finished'))
    t.true(stream.events.every(({ type }) => type.startsWith('extraction.')))
    stream.close()
  }
  const webhook = { url: 'https://example.org/', filter: { kinds: ['nosuch'] } }
  for (const answer of [ann.call('/api/live?kind=nosuch'), ann.call('/api/webhooks', { method: 'POST', json: webhook })]) {
    const refused = await refusal(answer)
    t.is(refused.status, 400)
    t.regex(refused.message, /^nosuch is not a kind of event: use one of job, space, .*extraction/)
  }
})

test('a move to the trash and a restore reach those who could view the dataset before, with its id alone, and nobody else', async t => {
  const [ann, bob, eve] = [await somebody(server, 'ann'), await somebody(server, 'bob'), await somebody(server, 'eve')]
  const [space, other] = [await newSpace(ann), await newSpace(ann)]
  await letIn(ann, space, 'Viewer', bob)
  await letIn(ann, other, 'Viewer', eve)
  const [dataset, own] = [await newDataset(ann, { space: [space] }), await newDataset(ann)]
  const collection = await newCollection(ann, { space })
  const seen = await newDataset(ann, { space: [space, other] })
  await server.drained()
  const streams = await Promise.all([ann, bob, eve].map(({ key }) => listen(server.url, key)))
  const ofSpace = await listen(server.url, bob.key, `?space=${space}`)
  for (const each of [own, dataset]) {
    await ann.remove(`/api/datasets/${each}`)
    await ann.put(`/api/datasets/restore/${each}`)
  }
  await ann.remove(`/api/collections/${collection}`)
  await ann.put(`/api/datasets/${seen}/title`, { name: 'last' })
  await Promise.all([...streams, ofSpace].map(stream => stream.first('the last event', of('dataset.updated', seen))))
  const lines = (stream: (typeof streams)[number]) =>
    stream.events.filter(({ type }) => /trashed|restored/.test(type)).map(({ type, subject }) => `${type} ${subject}`)
  const about = (id: string) => [`dataset.trashed dataset/${id}`, `dataset.restored dataset/${id}`]
  const [anns, bobs, eves] = streams.map(lines)
  t.deepEqual(anns, [...about(own), ...about(dataset), `collection.trashed collection/${collection}`])
  t.deepEqual(bobs, [...about(dataset), `collection.trashed collection/${collection}`])
  t.deepEqual(lines(ofSpace), bobs)
  t.deepEqual(eves, [])
  t.deepEqual(streams[1]?.events.find(of('dataset.trashed', dataset))?.data, { id: dataset })
  for (const each of [...streams, ofSpace]) each.close()
})

test('a removal from a space or a dataset reaches those who could view the resource in it, with ids alone, and nobody else', async t => {
  const [ann, bob, eve] = [await somebody(server, 'ann'), await somebody(server, 'bob'), await somebody(server, 'eve')]
  const [space, other] = [await newSpace(ann), await newSpace(ann)]
  await letIn(ann, space, 'Viewer', bob)
  await letIn(ann, other, 'Viewer', eve)
  const [dataset, source] = [await newDataset(ann, { space: [space] }), await newDataset(ann, { space: [space] })]
  const collection = await newCollection(ann, { space })
  const target = await newDataset(ann, { space: [other] })
  const seen = await newDataset(ann, { space: [space, other] })
  const file = await upload(ann.call, source, 'x', 'a.txt')
  await server.drained()
  const streams = await Promise.all([ann, bob, eve].map(({ key }) => listen(server.url, key, '?kind=dataset&kind=collection&kind=file')))
  const filtered = [await listen(server.url, bob.key, `?space=${space}`), await listen(server.url, bob.key, `?id=${source}`)]
  await ann.post(`/api/spaces/${space}/removeDataset/${dataset}`)
  await ann.post(`/api/spaces/${space}/removeCollection/${collection}?removeDatasets=false`)
  await ann.post('/api/bulk', { act: 'move', resources: [{ type: 'file', id: file }], to: { dataset: target } })
  await streams[0]?.first('the file in its new dataset', of('file.attached', file))
  await ann.put(`/api/datasets/${seen}/title`, { name: 'last' })
  await Promise.all([...streams, filtered[0]].map(stream => stream?.first('the last event', of('dataset.updated', seen))))
  const lines = (stream: (typeof streams)[number] | undefined) =>
    stream?.events.filter(({ type }) => type.endsWith('.detached')).map(({ type, subject }) => `${type} ${subject}`)
  const [left, moved] = [
    [`dataset.detached dataset/${dataset}`, `collection.detached collection/${collection}`],
    [`file.detached file/${file}`],
  ]
  t.deepEqual(streams.map(lines), [[...left, ...moved], [...left, ...moved], []])
  t.deepEqual(filtered.map(lines), [[...left, ...moved], moved])
  const data = (type: string, id: string) => streams[1]?.events.find(of(type, id))?.data
  t.deepEqual(data('dataset.detached', dataset), { id: dataset, other: { kind: 'space', id: space } })
  t.deepEqual(data('file.detached', file), { id: file, dataset: source })
  for (const each of [...streams, ...filtered]) each.close()
})

test('a file that is removed from a dataset is unknown to those who may not view the dataset', async t => {
  const [ann, bob] = [await somebody(server, 'ann'), await somebody(server, 'bob')]
  const space = await newSpace(ann)
  await letIn(ann, space, 'Viewer', bob)
  const [hidden, target] = [await newDataset(ann), await newDataset(ann, { space: [space] })]
  const file = await upload(ann.call, hidden, 'x', 'a.txt')
  await server.drained()
  const stream = await listen(server.url, bob.key)
  await ann.post('/api/bulk', { act: 'move', resources: [{ type: 'file', id: file }], to: { dataset: target } })
  await stream.first('the file', of('file.attached', file))
  await server.drained()
  t.false(JSON.stringify(stream.events).includes(hidden))
  stream.close()
})

test('without geostreams there are still live events and webhooks', async t => {
  const without = ['geo.rtree', 'resources.geostreams', 'resources.sensorthings']
  const small = await bootForTest({ t, without })
  const stream = await listen(small.url, small.admin.key, '?mine=true')
  const { id } = await ok<{ id: string }>(small.as(small.admin.key)('/api/datasets/createempty', { method: 'POST', json: { name: 'a' } }))
  t.is((await stream.first('the dataset', of('dataset.created', id))).data['name'], 'a')
  stream.close()
})

test('events of a stream have its name, and `mine` selects those of own sensors', async t => {
  const [ann, bob] = [await somebody(server, 'ann'), await somebody(server, 'bob')]
  const own = await listen(server.url, ann.key, '?mine=true')
  await newSensor(bob)
  await newStream(ann, await newSensor(ann, { name: 'of ann' }), { name: 'water' })
  await own.first('the stream', ({ type }) => type === 'stream.created')
  t.deepEqual(
    own.events.map(({ type, data }) => [type, data['name']]),
    [
      ['sensor.created', 'of ann'],
      ['stream.created', 'water'],
    ],
  )
  own.close()
})
