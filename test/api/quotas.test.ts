import { Buffer } from 'node:buffer'
import test, { type ExecutionContext } from 'ava'
import { BlobStore, Commands, DocumentStore } from 'pounce/sdk'
import { bootForTest, FixedClock, type TestFetch, type TestServer } from 'pounce/sdk/testing'
import { bagZip, importBag } from '../support/bags.ts'
import { newPerson } from '../support/people.ts'
import { formWith, newDataset, ok, unknownId } from '../support/scene.ts'
import { somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'

interface Quota {
  readonly usedBytes: number
  readonly maxBytes: number
  readonly usedFiles: number
  readonly maxFiles: number
  readonly isEnforced: boolean
}

const withQuotas = (t: ExecutionContext, quotas: object): Promise<TestServer> => bootForTest({ t, config: { resources: { quotas } } })

const send = (call: TestFetch, dataset: string, ...sizes: readonly number[]): Promise<Response> => {
  const form = new FormData()
  for (const [at, size] of sizes.entries()) form.append('File', new Blob(['x'.repeat(size)]), `leaf${at}.txt`)
  return call(`/api/uploadToDataset/${dataset}?extract=false`, { method: 'POST', body: form })
}

const sent = async (call: TestFetch, dataset: string, size: number): Promise<string> =>
  (await ok<{ id: string }>(send(call, dataset, size))).id

const refused = async (t: ExecutionContext, answer: Promise<Response>): Promise<{ message: string; quota: object }> => {
  const response = await answer
  const body = (await response.json()) as { code: string; message: string; quota: object }
  t.is(response.status, 413, JSON.stringify(body))
  t.is(body.code, 'quota-exceeded')
  return body
}

const own = (call: TestFetch) => ok<Quota>(call('/api/me/quota'))
const inSpace = (call: TestFetch, space: string) => ok<Quota>(call(`/api/spaces/${space}/quota`))
const newSpace = async (call: TestFetch): Promise<string> =>
  (await ok<{ id: string }>(call('/api/spaces', { method: 'POST', json: { name: 'lab', description: '' } }))).id
const remove = (call: TestFetch, file: string) => ok(call(`/api/files/${file}`, { method: 'DELETE' }))
const filesIn = async (call: TestFetch, dataset: string) => (await ok<unknown[]>(call(`/api/datasets/${dataset}/files`))).length

const blobsOf = async (server: TestServer): Promise<number> => {
  let count = 0
  for await (const _ of server.get(BlobStore).list()) count += 1
  return count
}

test('without a quota nothing is refused, and nothing is counted', async t => {
  const server = await bootForTest({ t })
  const { call, id } = await newPerson(server)
  const dataset = await newDataset(call)
  await sent(call, dataset, 5000)
  t.deepEqual(await own(call), { usedBytes: 0, maxBytes: 0, usedFiles: 0, maxFiles: 0, isEnforced: false })
  const names = ['quotas.usages', 'quotas.charges']
  await server.drained()
  await server.runPeriodic('resources.quotas/recount')
  for (const name of names)
    for await (const one of server.get(DocumentStore).walk({ name, indexes: {} })) t.fail(`${name} ${one.id} of ${id}`)
})

test('an upload beyond the quota of a user is refused and leaves no blob, and the used bytes are reported', async t => {
  const server = await withQuotas(t, { maxBytesPerPerson: 1000 })
  const { call } = await newPerson(server)
  const { call: another } = await newPerson(server)
  const dataset = await newDataset(call)
  await sent(call, dataset, 600)
  const before = await blobsOf(server)
  const { message, quota } = await refused(t, send(call, dataset, 401))
  t.regex(message, /600 of 1000 bytes are used and this needs 401 more.*Delete files.*server admin/)
  t.deepEqual(quota, { kind: 'user', usedBytes: 600, maxBytes: 1000, usedFiles: 1, maxFiles: 0 })
  t.is(await blobsOf(server), before)
  await sent(call, dataset, 400)
  t.is(await filesIn(call, dataset), 2)
  t.like(await own(call), { usedBytes: 1000, usedFiles: 2, isEnforced: true })
  await refused(t, send(call, dataset, 1))
  await sent(another, await newDataset(another), 1000)
})

test('an upload of several files is accepted or refused as a whole', async t => {
  const server = await withQuotas(t, { maxFilesPerPerson: 3 })
  const { call } = await newPerson(server)
  const dataset = await newDataset(call)
  await ok(send(call, dataset, 1, 2))
  await refused(t, send(call, dataset, 1, 2))
  t.is(await filesIn(call, dataset), 2)
  t.like(await own(call), { usedBytes: 3, usedFiles: 2 })
  await sent(call, dataset, 9)
})

test('concurrent uploads never exceed a limit in total', async t => {
  const server = await withQuotas(t, { maxBytesPerSpace: 1000, maxFilesPerPerson: 100 })
  const { call } = await newPerson(server)
  const space = await newSpace(call)
  const dataset = await newDataset(call, { space: [space] })
  const answers = await Promise.all(Array.from({ length: 20 }, () => send(call, dataset, 150)))
  const statuses = answers.map(({ status }) => status)
  t.deepEqual(
    statuses.filter(status => status !== 200 && status !== 413),
    [],
  )
  const taken = statuses.filter(status => status === 200).length
  t.is(taken, 6)
  t.is(await filesIn(call, dataset), taken)
  t.like(await inSpace(call, space), { usedBytes: taken * 150, usedFiles: taken })
  t.like(await own(call), { usedBytes: taken * 150, usedFiles: taken })
})

test('a file sent again in a batch is counted once, and no second copy of its bytes is left', async t => {
  const server = await withQuotas(t, { maxBytesPerPerson: 1000 })
  const { call } = await newPerson(server)
  const dataset = await newDataset(call)
  const before = await blobsOf(server)
  const again = () =>
    ok<{ id: string }>(
      call(`/api/uploadToDataset/${dataset}?extract=false&path=a.txt&batch=b`, {
        method: 'POST',
        body: formWith('x'.repeat(300), 'a.txt'),
      }),
    )
  const { id } = await again()
  for (const answer of await Promise.all([again(), again(), again()])) t.is(answer.id, id)
  t.like(await own(call), { usedBytes: 300, usedFiles: 1 })
  t.is(await blobsOf(server), before + 1)
  await remove(call, id)
  await server.drained()
  t.like(await own(call), { usedBytes: 0, usedFiles: 0 })
})

test('a resumable upload beyond the quota is refused at creation and at completion', async t => {
  const server = await withQuotas(t, { maxBytesPerPerson: 100 })
  const { call } = await newPerson(server)
  const dataset = await newDataset(call)
  const begin = (length: number) =>
    call('/api/uploads', {
      method: 'POST',
      headers: {
        'tus-resumable': '1.0.0',
        'upload-length': String(length),
        'upload-metadata': `filename ${Buffer.from('leaf.bin').toString('base64')},dataset ${Buffer.from(dataset).toString('base64')}`,
      },
    })
  await refused(t, begin(101))
  const answer = await begin(100)
  t.is(answer.status, 201)
  const patch = (offset: number, size: number) =>
    call(answer.headers.get('location') ?? '', {
      method: 'PATCH',
      headers: { 'tus-resumable': '1.0.0', 'upload-offset': String(offset), 'content-type': 'application/offset+octet-stream' },
      body: 'x'.repeat(size),
    })
  // Another file takes the remaining quota before the upload ends, and is deleted later.
  const file = await sent(call, dataset, 1)
  await refused(t, patch(0, 100))
  t.like(await own(call), { usedBytes: 1, usedFiles: 1 })
  await remove(call, file)
  await server.drained()
  t.is((await patch(100, 0)).status, 204)
  t.like(await own(call), { usedBytes: 100, usedFiles: 1 })
})

test('deleting releases the charge, moving to the trash does not', async t => {
  const server = await withQuotas(t, { maxBytesPerPerson: 1000, maxBytesPerSpace: 1000 })
  const { call } = await newPerson(server)
  const space = await newSpace(call)
  const dataset = await newDataset(call, { space: [space] })
  const file = await sent(call, dataset, 600)
  await sent(call, dataset, 400)
  await remove(call, file)
  await server.drained()
  t.like(await own(call), { usedBytes: 400, usedFiles: 1 })
  t.like(await inSpace(call, space), { usedBytes: 400, usedFiles: 1 })
  await sent(call, dataset, 600)
  await ok(call(`/api/datasets/${dataset}`, { method: 'DELETE' }))
  await server.drained()
  t.like(await own(call), { usedBytes: 1000 })
  await ok(call('/api/datasets/emptyTrash', { method: 'DELETE' }))
  await server.drained()
  t.like(await own(call), { usedBytes: 0, usedFiles: 0 })
})

test('copies count towards the quota, and a copy that exceeds it leaves nothing behind', async t => {
  const server = await withQuotas(t, { maxBytesPerPerson: 1000 })
  const { call } = await newPerson(server)
  const space = await newSpace(call)
  const dataset = await newDataset(call, { space: [space] })
  await sent(call, dataset, 400)
  const copy = () => call(`/api/datasets/${dataset}/copyDatasetToSpace/${space}`, { method: 'POST' })
  await ok(copy())
  t.like(await own(call), { usedBytes: 800, usedFiles: 2 })
  await refused(t, copy())
  await server.drained()
  t.like(await own(call), { usedBytes: 800, usedFiles: 2 })
  t.is((await ok<unknown[]>(call(`/api/spaces/${space}/datasets`))).length, 2)
})

test('a file without bytes fits into a quota of bytes that is used up', async t => {
  const server = await withQuotas(t, { maxBytesPerPerson: 1000 })
  const { call } = await newPerson(server)
  const dataset = await newDataset(call)
  await sent(call, dataset, 1000)
  await refused(t, send(call, dataset, 1))
  await sent(call, dataset, 0)
  t.like(await own(call), { usedBytes: 1000, usedFiles: 2 })
})

test('the files of an imported bag count towards the quota, and a bag that exceeds it is not imported', async t => {
  const server = await withQuotas(t, { maxBytesPerPerson: 1000 })
  const person = await somebody(server)
  t.is((await importBag(person, bagZip({ 'a.txt': 'x'.repeat(300), 'b.txt': 'x'.repeat(300) }))).status, 200)
  t.like(await own(person.call), { usedBytes: 600, usedFiles: 2 })
  const second = await importBag(person, bagZip({ 'a.txt': 'x'.repeat(300), 'b.txt': 'x'.repeat(300) }))
  t.is(second.status, 413, second.text)
  t.regex(second.text, /quota-exceeded/)
  await server.drained()
  t.like(await own(person.call), { usedBytes: 600, usedFiles: 2 })
})

test('only server admins can set the quota of a user', async t => {
  const server = await withQuotas(t, { maxBytesPerPerson: 10, maxFilesPerPerson: 5 })
  const { call, id } = await newPerson(server)
  const { call: another } = await newPerson(server)
  const asAdmin = server.as(server.admin.key)
  const dataset = await newDataset(call)
  const path = `/api/admin/quotas/user/${id}`
  await refused(t, send(call, dataset, 11))
  t.is((await call(path, { method: 'PUT', json: { maxBytes: 0 } })).status, 403)
  t.is((await call(path)).status, 403)
  t.is((await asAdmin(`/api/admin/quotas/user/${unknownId}`, { method: 'PUT', json: { maxBytes: 0 } })).status, 404)
  t.is((await asAdmin(`/api/admin/quotas/space/${unknownId}`)).status, 404)
  t.like(await ok<Quota>(asAdmin(path, { method: 'PUT', json: { maxBytes: 0 } })), { maxBytes: 0, maxFiles: 5 })
  await sent(call, dataset, 5000)
  t.like(await ok<Quota>(asAdmin(path)), { usedBytes: 5000, usedFiles: 1, maxBytes: 0, maxFiles: 5 })
  await ok(asAdmin(path, { method: 'PUT', json: {} }))
  t.like(await own(call), { usedBytes: 5000, maxBytes: 10 })
  await refused(t, send(call, dataset, 1))

  const space = await newSpace(call)
  t.is((await another(`/api/spaces/${space}/quota`)).status, 403)
  t.is((await server.as()('/api/me/quota')).status, 401)
})

test('a recount includes files older than the quota, follows datasets between spaces and corrects drift', async t => {
  const clock = new FixedClock()
  const server = await bootForTest({ t, clock, config: { resources: { quotas: { maxBytesPerSpace: 1000 } } } })
  const { call, id } = await newPerson(server)
  const [from, to] = [await newSpace(call), await newSpace(call)]
  const dataset = await newDataset(call, { space: [from] })
  await sent(call, dataset, 700)
  await ok(call(`/api/spaces/${to}/addDatasetToSpace/${dataset}`, { method: 'POST' }))
  await ok(call(`/api/spaces/${from}/removeDataset/${dataset}`, { method: 'POST' }))
  const documents = server.get(DocumentStore)
  const usages = { name: 'quotas.usages', indexes: {} }
  const command = server
    .get(Commands)
    .all()
    .find(({ name }) => name === 'quota recount')
  await server.drained()
  const recounted = async () => {
    await documents.commit({ update: `user-${id}`, in: usages, inc: { bytes: 5 } })
    clock.advance(61_000)
    return (await command?.run({ arguments: {}, options: {} }, () => undefined)) as { readonly corrected: number }
  }
  // The periodic recount may be the first to correct the usage.
  t.like(await until('the command to correct the usage', recounted, ({ corrected }) => corrected > 0), { files: 1, corrected: 1 })
  t.like(await inSpace(call, from), { usedBytes: 0, usedFiles: 0 })
  t.like(await inSpace(call, to), { usedBytes: 700, usedFiles: 1 })
  t.like(await own(call), { usedBytes: 700, usedFiles: 1 })
  await documents.commit({ tombstone: `user-${id}`, in: usages })
  await refused(t, send(call, dataset, 301))
})

test('a recount deletes the usage and the limits of deleted spaces, and of no others', async t => {
  const clock = new FixedClock()
  const server = await bootForTest({ t, clock, config: { resources: { quotas: { maxBytesPerSpace: 1000 } } } })
  const { call, id } = await newPerson(server)
  const [gone, kept] = [await newSpace(call), await newSpace(call)]
  for (const space of [gone, kept]) {
    await ok(server.as(server.admin.key)(`/api/admin/quotas/space/${space}`, { method: 'PUT', json: { maxBytes: 500 } }))
    await sent(call, await newDataset(call, { space: [space] }), 100)
  }
  await ok(call(`/api/spaces/${gone}`, { method: 'DELETE' }))
  await server.drained()
  clock.advance(61_000)
  await server.runPeriodic('resources.quotas/recount')
  const idsIn = async (name: string) => {
    const found: string[] = []
    for await (const one of server.get(DocumentStore).walk({ name, indexes: {} })) found.push(one.id)
    return found.toSorted()
  }
  t.deepEqual(await idsIn('quotas.limits'), [`space-${kept}`])
  t.deepEqual(await idsIn('quotas.usages'), [`space-${kept}`, `user-${id}`])
  t.like(await inSpace(call, kept), { usedBytes: 100, usedFiles: 1, maxBytes: 500 })
  t.like(await own(call), { usedBytes: 200, usedFiles: 2 })
})

test('a recount does not count a concurrent upload that has been charged and may still be refused', async t => {
  const clock = new FixedClock()
  const server = await bootForTest({ t, clock, config: { resources: { quotas: { maxBytesPerPerson: 100 } } } })
  const { call, id } = await newPerson(server)
  await sent(call, await newDataset(call), 1)
  const holder = `user-${id}`
  await server.get(DocumentStore).commit({
    insert: { id: unknownId, holders: [holder], sizeBytes: 100, at: clock.now().toISOString(), isReleased: false },
    into: { name: 'quotas.charges', indexes: {} },
  })
  await server.runPeriodic('resources.quotas/recount')
  t.like(await own(call), { usedBytes: 1, usedFiles: 1 })
})
