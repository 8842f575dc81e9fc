import test from 'ava'
import { EventSource } from 'eventsource'
import { DocumentStore, ProgressListeners, Unavailable } from 'pounce/sdk'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { freePort } from '../support/free-port.ts'
import { listen, of } from '../support/live-events.ts'
import { byCookie, signIn } from '../support/people.ts'
import { formWith, newFolder, ok, refusal, unknownId, upload } from '../support/scene.ts'
import { letIn, newDataset, newSpace, publish, somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'

const server = await bootForTest({ config: { access: { private: true } } })
test.after.always(() => server.stop())

/** A final event visible to all callers of the test: earlier events have arrived before it, or never will. */
const mark = async (call: Parameters<typeof upload>[0], dataset: string): Promise<string> => upload(call, dataset, 'mark', 'mark.txt')

test('a change to a resource is sent as a CloudEvent with its id, name and status', async t => {
  const ann = await somebody(server, 'ann')
  const stream = await listen(server.url, ann.key)
  const dataset = await newDataset(ann, { name: 'Soil cores' })
  const created = await stream.first('the dataset', of('dataset.created', dataset))
  t.like(created, {
    specversion: '1.0',
    type: 'dataset.created',
    source: server.url,
    subject: `dataset/${dataset}`,
    datacontenttype: 'application/json',
    data: { id: dataset, name: 'Soil cores' },
  })
  t.regex(created.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  const folder = await newFolder(ann.call, dataset, 'north')
  t.like((await stream.first('the folder', of('folder.created', folder))).data, { name: 'north', dataset })
  const file = await upload(ann.call, dataset, 'depth', 'core.txt')
  t.like((await stream.first('the file', of('file.created', file))).data, { name: 'core.txt', dataset })
  await ok(ann.call(`/api/files/${file}`, { method: 'DELETE' }))
  t.deepEqual((await stream.first('its deletion', of('file.deleted', file))).data, { id: file })
  stream.close()
})

test('the response is an event stream that must not be cached, compressed or buffered', async t => {
  const ann = await somebody(server, 'ann')
  const stream = await listen(server.url, ann.key, '', { 'accept-encoding': 'gzip, br' })
  t.is(stream.status, 200)
  t.is(stream.headers.get('content-type'), 'text/event-stream')
  t.is(stream.headers.get('content-encoding'), null)
  t.regex(stream.headers.get('cache-control') ?? '', /no-store/)
  t.is(stream.headers.get('x-accel-buffering'), 'no')
  t.regex(stream.text, /^retry: \d+$/m)
  stream.close()
  const head = await ann.call('/api/live', { method: 'HEAD' })
  t.is(head.status, 200)
})

test('an uploaded file is reported as PROCESSED, and its extractions as submitted and finished', async t => {
  const ann = await somebody(server, 'ann')
  const dataset = await newDataset(ann)
  const stream = await listen(server.url, ann.key, `?id=${dataset}`)
  const file = await upload(ann.call, dataset, 'a,b\n1,2\n', 'table.csv', { type: 'text/csv', query: '' })
  await stream.first('the status', event => event.type === 'file.updated' && event.data['status'] === 'PROCESSED')
  const submitted = await stream.first('a submission', of('extraction.submitted'))
  t.like(submitted.data, { target: { kind: 'file', id: file } })
  const finished = await stream.first('its end', of('extraction.finished'))
  t.like(finished.data, { target: { kind: 'file', id: file }, state: 'done' })
  stream.close()
})

test('filters select by kind, id, space, type and creator, and values of one filter are alternatives', async t => {
  const ann = await somebody(server, 'ann')
  const bob = await somebody(server, 'bob')
  const space = await newSpace(ann)
  await letIn(ann, space, 'Editor', bob)
  const inside = await newDataset(ann, { name: 'inside', space })
  const outside = await newDataset(ann, { name: 'outside' })
  await server.drained()
  const queries = {
    kind: '?kind=folder',
    id: `?id=${inside}&id=${unknownId}`,
    space: `?space=${space}`,
    type: '?type=file.created&type=folder.*',
    mine: '?mine=true&kind=file',
    all: '',
  }
  const streams = Object.fromEntries(
    await Promise.all(Object.entries(queries).map(async ([name, query]) => [name, await listen(server.url, ann.key, query)] as const)),
  )
  const folder = await newFolder(ann.call, outside, 'a folder')
  const here = await upload(ann.call, inside, 'one', 'one.txt')
  const there = await upload(ann.call, outside, 'two', 'two.txt')
  const bobs = await upload(bob.call, inside, 'three', 'three.txt')
  await streams['all']?.first('the last', of('file.created', bobs))
  const got = async (name: string) => {
    const stream = streams[name]
    await until('a selected event', () => (stream?.events.length ?? 0) > 0)
    await server.drained()
    const events = stream?.events.filter(({ type }) => type.endsWith('.created')) ?? []
    return events.map(({ data }) => data['id'])
  }
  t.deepEqual(await got('kind'), [folder])
  t.deepEqual(await got('id'), [here, bobs])
  t.deepEqual(await got('space'), [here, bobs])
  t.deepEqual(await got('type'), [folder, here, there, bobs])
  t.deepEqual(await got('mine'), [here, there])
  for (const stream of Object.values(streams)) stream.close()
})

test('unknown types, invalid ids and invalid times are refused, with the valid values', async t => {
  const ann = await somebody(server, 'ann')
  for (const [query, message] of [
    ['?type=dataset.exploded', /dataset\.exploded is not a type of event.*dataset\.created/],
    ['?since=yesterday', /since.*must be a time/],
  ] as const) {
    const refused = await refusal(ann.call(`/api/live${query}`))
    t.is(refused.status, 400)
    t.regex(refused.message, message)
  }
  t.true([400, 404].includes((await ann.call('/api/live?id=nothing')).status))
})

test('anonymous callers are refused with 401 on a private server and receive only public events on a public one', async t => {
  t.is((await server.as()('/api/live')).status, 401)
  t.is((await server.as('wrong-key')('/api/live')).status, 401)
  const open = await bootForTest({ t })
  const ann = await somebody(open, 'ann')
  const space = await newSpace(ann)
  await publish(open, ann, space)
  const shown = await newDataset(ann, { name: 'shown', space })
  await open.drained()
  const stream = await listen(open.url, undefined)
  // A file outside datasets is visible only to its author, even on a public server.
  const hidden = await ok<{ id: string }>(ann.call('/api/files?extract=false', { method: 'POST', body: formWith('x', 'private-word.txt') }))
  t.is((await open.as()(`/api/files/${hidden.id}/metadata`)).status, 404)
  const file = await mark(ann.call, shown)
  await stream.first('the public file', of('file.created', file))
  t.false(stream.text.includes('private-word'))
  stream.close()
})

test('callers receive no events about resources they may not view', async t => {
  const [ann, bob] = [await somebody(server, 'ann'), await somebody(server, 'bob')]
  const [space, secret] = [await newSpace(ann, 'shared-space'), await newDataset(ann, { name: 'canary-dataset' })]
  const shared = await newDataset(ann, { name: 'shared', space })
  await letIn(ann, space, 'Viewer', bob)
  await server.drained()
  const stream = await listen(server.url, bob.key)
  const file = await upload(ann.call, secret, 'canary', 'canary-file.txt')
  await newFolder(ann.call, secret, 'canary-folder')
  await ann.post(`/api/datasets/${secret}/tags`, { tags: ['canary-tag'] })
  await ann.post(`/api/datasets/${secret}/comment`, { text: 'canary-comment' })
  await ok(ann.call(`/api/files/${file}`, { method: 'DELETE' }))
  await ann.call(`/api/datasets/${secret}`, { method: 'DELETE' })
  const last = await mark(ann.call, shared)
  await stream.first('the last event', of('file.created', last))
  t.false(stream.text.includes('canary'))
  t.false(stream.text.includes(secret))
  t.false(stream.text.includes(file))
  stream.close()
})

test('a permission revoked in the middle of a stream ends its events at once', async t => {
  const [ann, bob] = [await somebody(server, 'ann'), await somebody(server, 'bob')]
  const [space, other] = [await newSpace(ann), await newSpace(ann)]
  await letIn(ann, space, 'Viewer', bob)
  await letIn(ann, other, 'Viewer', bob)
  const dataset = await newDataset(ann, { space })
  const still = await newDataset(ann, { space: other })
  await server.drained()
  const stream = await listen(server.url, bob.key)
  const before = await upload(ann.call, dataset, 'one', 'before.txt')
  await stream.first('an event while it is allowed', of('file.created', before))
  t.is((await ann.post(`/api/spaces/${space}/removeUser?removeUser=${bob.id}`)).status, 200)
  const after = await upload(ann.call, dataset, 'two', 'canary-after.txt')
  const last = await mark(ann.call, still)
  await stream.first('the last event', of('file.created', last))
  t.false(stream.text.includes(after))
  t.false(stream.text.includes('canary'))
  stream.close()
})

test('a stream ends with a reason when its key is revoked, its session ends or its account is suspended', async t => {
  const ends: Record<string, (person: Awaited<ReturnType<typeof somebody>>, cookie: string) => Promise<unknown>> = {
    key: async person => person.call('/api/users/keys/test', { method: 'DELETE' }),
    session: async (_, cookie) => byCookie(server, cookie)('/api/logout', { method: 'POST' }),
    suspended: async person => person.asAdmin('/api/admin/users', { method: 'POST', json: { inactive: [person.id] } }),
  }
  for (const [how, end] of Object.entries(ends)) {
    const person = await somebody(server, how)
    const cookie = how === 'session' ? await signIn(server, person.email, person.password) : ''
    const stream = await listen(server.url, how === 'session' ? undefined : person.key, '', how === 'session' ? { cookie } : {})
    t.is(stream.status, 200, how)
    const answer = (await end(person, cookie)) as Response
    t.true(answer.ok, `${how} ${answer.status}`)
    const closed = await stream.first(`the end by ${how}`, of('stream.closed'))
    t.is(closed.data['reason'], 'credential-ended')
    await until('the stream to end', () => stream.isEnded)
  }
})

test('a client that reconnects receives what it missed, once and in order', async t => {
  const ann = await somebody(server, 'ann')
  const dataset = await newDataset(ann)
  const names = (stream: { events: readonly { data: Readonly<Record<string, unknown>>; type: string }[] }) =>
    stream.events.filter(({ type }) => type === 'file.created').map(({ data }) => data['name'])
  const first = await listen(server.url, ann.key, `?id=${dataset}&type=file.created`)
  for (const name of ['1', '2', '3']) await upload(ann.call, dataset, name, name)
  await first.first('the third', event => event.data['name'] === '3')
  const at = first.lastId
  first.close()
  for (const name of ['4', '5', '6']) await upload(ann.call, dataset, name, name)
  const second = await listen(server.url, ann.key, `?id=${dataset}&type=file.created`, { 'last-event-id': at })
  await upload(ann.call, dataset, '7', '7')
  await second.first('the seventh', event => event.data['name'] === '7')
  t.deepEqual(names(first), ['1', '2', '3'])
  t.deepEqual(names(second), ['4', '5', '6', '7'])
  const all = await listen(server.url, ann.key, `?id=${dataset}&type=file.created&since=${encodeURIComponent('2020-01-01T00:00:00Z')}`)
  await all.first('the seventh again', event => event.data['name'] === '7')
  t.deepEqual(names(all).slice(-7), ['1', '2', '3', '4', '5', '6', '7'])
  for (const stream of [second, all]) stream.close()
})

test('a gap in the log is reported before later events', async t => {
  const own = await bootForTest({ t, config: { access: { private: true }, resources: { live: { maxEvents: 100 } } } })
  const ann = await somebody(own, 'ann')
  const dataset = await newDataset(ann)
  await own.drained()
  const first = await listen(own.url, ann.key, `?id=${dataset}`)
  await mark(ann.call, dataset)
  await first.first('an event', of('file.created'))
  const at = first.lastId
  first.close()
  for (let round = 0; round < 120; round += 1) await ann.post(`/api/datasets/${dataset}/tags`, { tags: [`tag ${round}`] })
  await own.drained()
  await own.runPeriodic('resources.live/trim-log')
  const second = await listen(own.url, ann.key, `?id=${dataset}`, { 'last-event-id': at })
  await second.first('the gap', of('replay.incomplete'))
  const last = await mark(ann.call, dataset)
  await second.first('what comes after it', of('file.created', last))
  t.deepEqual(
    second.events
      .filter(({ type }) => type !== 'file.created' && !type.startsWith('extraction.') && type !== 'file.updated')
      .map(({ type }) => type),
    ['replay.incomplete'],
  )
  second.close()
  const foreign = await listen(own.url, ann.key, '', { 'last-event-id': 'of another server' })
  await foreign.first('the gap', of('replay.incomplete'))
  foreign.close()
  const old = await listen(own.url, ann.key, '?since=2020-01-01')
  await old.first('the gap', of('replay.incomplete'))
  old.close()
})

test('a stream survives a restart: the client detects it, reconnects, and misses nothing', async t => {
  const own = await bootForTest({ t, config: { access: { private: true } } })
  const ann = await somebody(own, 'ann')
  const dataset = await newDataset(ann)
  await own.drained()
  const stream = await listen(own.url, ann.key)
  const before = await mark(ann.call, dataset)
  await stream.first('an event', of('file.created', before))
  await own.restart()
  t.is((await stream.first('the end', of('stream.closed'))).data['reason'], 'shutdown')
  const again = own.as(ann.key)
  const during = await upload(again, dataset, 'during', 'during.txt')
  const second = await listen(own.url, ann.key, '', { 'last-event-id': stream.lastId })
  await second.first('what was missed', of('file.created', during))
  t.false(second.events.some(of('file.created', before)))
  second.close()
})

test('streams beyond the limit per caller are refused with 429, and closing one frees a slot', async t => {
  const own = await bootForTest({ t, config: { access: { private: true }, resources: { live: { maxStreamsPerCaller: 2 } } } })
  const [ann, bob] = [await somebody(own, 'ann'), await somebody(own, 'bob')]
  const open = [await listen(own.url, ann.key), await listen(own.url, ann.key)]
  const refused = await ann.call('/api/live')
  t.is(refused.status, 429)
  t.truthy(refused.headers.get('retry-after'))
  await refused.body?.cancel()
  const others = await listen(own.url, bob.key)
  t.is(others.status, 200)
  open[0]?.close()
  const third = await until('a free slot', async () => {
    const stream = await listen(own.url, ann.key)
    return stream.status === 200 ? stream : undefined
  })
  for (const stream of [...open, others, third]) stream?.close()
})

test('heartbeats keep an idle stream open and advance its position', async t => {
  const own = await bootForTest({ t, config: { access: { private: true }, resources: { live: { heartbeatSeconds: 1 } } } })
  const [ann, bob] = [await somebody(own, 'ann'), await somebody(own, 'bob')]
  const stream = await listen(own.url, bob.key)
  const began = stream.lastId
  await newDataset(ann)
  await until('a heartbeat with a later position', () => Number.parseInt(stream.lastId, 10) > Number.parseInt(began, 10))
  t.true(stream.text.includes(': heartbeat'))
  t.deepEqual(stream.events, [])
  stream.close()
})

test('events about an account are sent only to its owner', async t => {
  const [ann, bob] = [await somebody(server, 'ann'), await somebody(server, 'bob')]
  const streams = [await listen(server.url, ann.key, '?kind=user'), await listen(server.url, bob.key, '?kind=user')]
  const change = async (person: typeof ann) => ok(person.call(`/api/users/${person.id}`, { method: 'PUT', json: { firstName: 'Renamed' } }))
  await change(ann)
  await change(bob)
  for (const [at, person] of [ann, bob].entries()) {
    await streams[at]?.first('the change', of('user.updated', person.id))
    t.deepEqual([...new Set(streams[at]?.events.map(({ data }) => data['id']))], [person.id])
    streams[at]?.close()
  }
})

test('a server admin receives all events in superadmin mode, and only visible ones otherwise', async t => {
  const ann = await somebody(server, 'ann')
  const admin: TestServer['admin'] = server.admin
  const [all, some] = [await listen(server.url, admin.key, '?superAdmin=true'), await listen(server.url, admin.key)]
  const dataset = await newDataset(ann, { name: 'canary-of-ann' })
  const own = await ok<{ id: string }>(
    server.as(admin.key)('/api/datasets/createempty', { method: 'POST', json: { name: 'of the admin' } }),
  )
  await all.first('the private dataset', of('dataset.created', dataset))
  await some.first('the own dataset', of('dataset.created', own.id))
  t.false(some.text.includes('canary-of-ann'))
  for (const stream of [all, some]) stream.close()
})

test('a long message about progress stays valid Unicode', async t => {
  const ann = await somebody(server, 'ann')
  const dataset = await newDataset(ann)
  const own = await listen(server.url, ann.key)
  for (const start of ['', 'x']) {
    const name = Buffer.from(`${start}${'🌲'.repeat(105)}`).toString('base64')
    const metadata = `filename ${name},dataset ${Buffer.from(dataset).toString('base64')}`
    const headers = { 'tus-resumable': '1.0.0', 'upload-length': '5', 'upload-metadata': metadata }
    const made = await ann.call('/api/uploads', {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/offset+octet-stream' },
      body: 'bytes',
    })
    t.is(made.status, 201)
    const id = new URL(made.headers.get('location') ?? '', server.url).pathname.split('/').at(-1) ?? ''
    const { data } = await own.first('its end', of('upload.finished', id))
    t.true(String(data['message']).length >= 199 && String(data['message']).isWellFormed())
  }
  own.close()
})

test('the EventSource from npm reconnects by itself after a restart and misses nothing', async t => {
  const port = await freePort()
  const own = await bootForTest({ t, config: { access: { private: true }, http: { port }, resources: { live: { retrySeconds: 0.1 } } } })
  const ann = await somebody(own, 'ann')
  const dataset = await newDataset(ann)
  await own.drained()
  const names: unknown[] = []
  const source = new EventSource(`${own.url}/api/live?type=file.created&id=${dataset}`, {
    fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, 'x-api-key': ann.key } }),
  })
  t.teardown(() => source.close())
  source.addEventListener('message', ({ data }) => names.push(JSON.parse(data).data.name))
  await new Promise(resolve => source.addEventListener('open', resolve, { once: true }))
  for (let round = 0; round < 3; round += 1) {
    await upload(own.as(ann.key), dataset, 'x', `${round} before`)
    await own.restart()
    await upload(own.as(ann.key), dataset, 'x', `${round} after`)
  }
  await until('the events of all files', () => names.filter(name => typeof name === 'string').length === 6)
  t.deepEqual(
    names.filter(name => typeof name === 'string'),
    ['0 before', '0 after', '1 before', '1 after', '2 before', '2 after'],
  )
})

test('a filter by a resource that the caller may not view selects no events, not even visible ones', async t => {
  const [ann, bob] = [await somebody(server, 'ann'), await somebody(server, 'bob')]
  const space = await newSpace(ann)
  await letIn(ann, space, 'Editor', bob)
  const [shared, hidden] = [await newDataset(ann, { space }), await newDataset(ann)]
  const file = await upload(ann.call, shared, 'x', 'in two.txt')
  t.true((await ann.post(`/api/datasets/${hidden}/files/${file}`)).status < 300)
  await server.drained()
  const [byHidden, byShared] = [await listen(server.url, bob.key, `?id=${hidden}`), await listen(server.url, bob.key, `?id=${shared}`)]
  await ok(ann.call(`/api/files/${file}/filename`, { method: 'PUT', json: { name: 'renamed.txt' } }))
  await byShared.first('the change', of('file.updated', file))
  const last = await mark(ann.call, shared)
  await byShared.first('the last', of('file.created', last))
  t.deepEqual(byHidden.events, [])
  for (const stream of [byHidden, byShared]) stream.close()
})

test('streams stay open while the store is unavailable and then continue from their position', async t => {
  const own = await bootForTest({ t, config: { access: { private: true } } })
  const ann = await somebody(own, 'ann')
  const dataset = await newDataset(ann)
  await own.drained()
  const stream = await listen(own.url, ann.key, `?id=${dataset}`)
  const documents = own.get(DocumentStore)
  const [find, commit] = [documents.find.bind(documents), documents.commit.bind(documents)]
  let isDown = true
  let refused = 0
  const unavailable = () => {
    refused += 1
    return Promise.reject(new Unavailable('The store is unavailable'))
  }
  documents.find = ((from: never, query: never) =>
    isDown && (from as { name: string }).name === 'live.log' ? unavailable() : find(from, query)) as typeof find
  documents.commit = ((change: { into?: { name: string } }, events: never) =>
    isDown && change.into?.name === 'live.log' ? unavailable() : commit(change as never, events)) as typeof commit
  const during = await upload(ann.call, dataset, 'x', 'during.txt')
  await until('a failed log request', () => refused > 0)
  t.false(stream.isEnded)
  isDown = false
  await stream.first('what happened meanwhile', of('file.created', during))
  t.false(stream.isEnded)
  stream.close()
})

test('only the latest of many progress reports is sent, and reports without a resource only to their user', async t => {
  const [ann, bob] = [await somebody(server, 'ann'), await somebody(server, 'bob')]
  const [own, other] = [await listen(server.url, ann.key, '?type=import.*'), await listen(server.url, bob.key)]
  const all = await listen(server.url, server.admin.key, '?type=import.*&superAdmin=true')
  const report = (done: number, state: 'running' | 'finished') => {
    const progress = { activity: 'import', id: unknownId, actor: ann.id, state, done, total: 1000, unit: 'files' } as const
    for (const listener of server.get(ProgressListeners).all()) listener.report(progress)
  }
  for (let done = 0; done < 1000; done += 1) report(done, 'running')
  report(1000, 'finished')
  for (const stream of [own, all]) {
    t.like((await stream.first('the end', of('import.finished', unknownId))).data, { done: 1000, total: 1000, unit: 'files' })
    t.is(stream.events.filter(({ type }) => type === 'import.progressed').length, 0)
  }
  await newDataset(bob)
  await other.first('something of their own', of('dataset.created'))
  t.false(other.events.some(({ type }) => type.startsWith('import.')))
  for (const stream of [own, other, all]) stream.close()
})

test('an extraction reports nothing after it has finished', async t => {
  const ann = await somebody(server, 'ann')
  const dataset = await newDataset(ann)
  await server.drained()
  const stream = await listen(server.url, ann.key, '?type=extraction.*&type=import.*')
  const files = ['a', 'b', 'c', 'd', 'e']
  for (const name of files) await upload(ann.call, dataset, `${name},b\n1,2\n`, `${name}.csv`, { type: 'text/csv', query: '' })
  const ends = () => stream.events.filter(({ type }) => type === 'extraction.finished')
  await until('all extractions', () => new Set(ends().map(({ data }) => (data['target'] as { id: string }).id)).size === files.length)
  await server.drained()
  // Pending reports are written together, so earlier ones have arrived once this one has.
  const last = { activity: 'import', id: unknownId, actor: ann.id, state: 'finished' } as const
  for (const listener of server.get(ProgressListeners).all()) listener.report(last)
  await stream.first('the last report', of('import.finished', unknownId))
  for (const { subject } of ends()) t.is(stream.events.findLast(event => event.subject === subject)?.type, 'extraction.finished')
  stream.close()
})

test('a user who is removed from a space receives this event, and none that follow about the space', async t => {
  const [ann, bob] = [await somebody(server, 'ann'), await somebody(server, 'bob')]
  const space = await newSpace(ann)
  await letIn(ann, space, 'Viewer', bob)
  const stream = await listen(server.url, bob.key)
  t.is((await ann.post(`/api/spaces/${space}/removeUser?removeUser=${bob.id}`)).status, 200)
  const removal = await stream.first('the removal', of('space.member-changed', space))
  t.like(removal.data, { user: bob.id, change: 'removed' })
  t.is((await ann.post(`/api/spaces/${space}/update`, { name: 'Renamed', description: '' })).status, 200)
  await mark(bob.call, await newDataset(bob))
  await stream.first('the mark', event => event.type === 'file.created' && event.data['name'] === 'mark.txt')
  t.false(stream.text.includes('Renamed'))
  stream.close()
})
