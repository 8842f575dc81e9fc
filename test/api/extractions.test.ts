import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { extracted } from '../support/extracted.ts'
import { newPerson, type Person } from '../support/people.ts'
import { formWith, newDataset, ok, refusal, upload, uploadData } from '../support/scene.ts'

let server: TestServer
let ann: Person
let bob: Person

test.before(async () => {
  server = await bootForTest()
  ann = await newPerson(server, 'ann')
  bob = await newPerson(server, 'bob')
})
test.after.always(() => server?.stop())

const info = async (file: string) => ok<{ status: string; thumbnail: string | null }>(ann.call(`/api/files/${file}/metadata`))

const description = (name: string, about: Record<string, unknown> = {}) => ({
  name,
  version: '1.0',
  description: 'Counts leaves',
  author: 'A. Author',
  contexts: [],
  repository: { repType: 'git', repUrl: 'https://example.org/leaves' },
  ...about,
})

test('an upload triggers the extractors that accept its type', async t => {
  const file = await uploadData(ann.call, await newDataset(ann.call), 'photo.jpg', 'image/jpeg')
  const status = await extracted(ann.call, file)
  t.like(status, { 'pounce.image': 'DONE', 'pounce.digest': 'DONE', Status: 'Done' })
  t.deepEqual(await ok(ann.call(`/api/files/${file}/isBeingProcessed`)), { isBeingProcessed: 'false' })
  const documents = await ok<{ content: Record<string, unknown> }[]>(ann.call(`/api/files/${file}/metadata.jsonld?extractor=pounce.image`))
  t.is(documents.length, 1)
  t.is(typeof documents[0]?.content['width'], 'number')
  const { thumbnail } = await info(file)
  const picture = await ann.call(`/api/thumbnails/${thumbnail}`)
  t.is(picture.headers.get('content-type'), 'image/jpeg')
  t.true((await picture.arrayBuffer()).byteLength > 500)
})

test('the first thumbnail of a file becomes that of its dataset too', async t => {
  const dataset = await newDataset(ann.call)
  const file = await uploadData(ann.call, dataset, 'picture.png', 'image/png')
  await extracted(ann.call, file)
  await server.drained()
  const { thumbnail } = await info(file)
  t.truthy(thumbnail)
  t.is((await ok<{ thumbnail: string | null }>(ann.call(`/api/datasets/${dataset}`))).thumbnail, thumbnail)
})

test('previews name their previewer', async t => {
  const file = await uploadData(ann.call, await newDataset(ann.call), 'notes.md', 'text/markdown')
  await extracted(ann.call, file)
  const [match] = await ok<{ file_id: string; previews: { pv_route: string; p_id: string; pv_length: string }[] }[]>(
    ann.call(`/api/files/${file}/getPreviews`),
  )
  t.is(match?.file_id, file)
  const [shown] = match?.previews ?? []
  t.is(shown?.p_id, 'HTML')
  const page = await ann.call(shown?.pv_route ?? '')
  t.is(page.status, 200)
  t.is(page.headers.get('content-disposition')?.split(';')[0], 'attachment')
})

test('an upload without extraction is PROCESSED at once and triggers no run', async t => {
  const file = await upload(ann.call, await newDataset(ann.call), 'x', 'x.txt')
  await server.drained()
  t.deepEqual(await ok(ann.call(`/api/files/${file}/extractions`)), [])
  t.like(await info(file), { status: 'PROCESSED' })
})

test('a failing extractor ends its run with an error', async t => {
  const file = await upload(ann.call, await newDataset(ann.call), 'this is no picture', 'broken.png', { type: 'image/png', query: '' })
  const status = await extracted(ann.call, file)
  t.regex(status['pounce.image'] ?? '', /^StatusMessage\.error: /)
  t.is(status['Status'], 'Done')
})

test('a run can be requested manually', async t => {
  const file = await upload(ann.call, await newDataset(ann.call), 'one two three', 'words.txt')
  const requested = await ok<{ status: string; job_id: string }>(
    ann.call(`/api/files/${file}/extractions`, { method: 'POST', json: { extractor: 'pounce.text', parameters: null } }),
  )
  t.is(requested.status, 'OK')
  const runs = () => ok<{ job_id: string; status: string; messages: unknown[] }[]>(ann.call(`/api/files/${file}/extractions`))
  while ((await runs())[0]?.status !== 'DONE') await server.drained()
  t.is((await runs())[0]?.job_id, requested.job_id)
  t.true(((await runs())[0]?.messages.length ?? 0) >= 3)
})

test('invalid and forbidden requests to start or cancel a run are refused', async t => {
  const dataset = await newDataset(ann.call)
  const file = await upload(ann.call, dataset)
  const ask = (json: unknown, call = ann.call) => refusal(call(`/api/files/${file}/extractions`, { method: 'POST', json }))
  t.like(await ask({ extractor: 'no.such' }), { status: 400 })
  t.like(await ask({}), { status: 400 })
  t.like(await ask({ extractor: 7 }), { status: 400 })
  t.like(await ask({ extractor: 'pounce.text' }, bob.call), { status: 403 })
  const cancel = (job: string, json: unknown) => refusal(ann.call(`/api/files/${file}/extractions/${job}`, { method: 'DELETE', json }))
  t.like(await cancel('f'.repeat(24), { extractor: 'pounce.text' }), { status: 404 })
  t.like(await cancel('f'.repeat(24), {}), { status: 400 })
})

test('a submitted run can be cancelled', async t => {
  await ok(ann.call('/api/extractors', { method: 'POST', json: description('acme.never-runs') }))
  const file = await upload(ann.call, await newDataset(ann.call))
  const { job_id } = await ok<{ job_id: string }>(
    ann.call(`/api/files/${file}/extractions`, { method: 'POST', json: { extractor: 'acme.never-runs' } }),
  )
  t.like(await ok(ann.call(`/api/extractions/${file}/status`)), { 'acme.never-runs': 'SUBMITTED', Status: 'Processing' })
  t.deepEqual(
    await ok(ann.call(`/api/files/${file}/extractions/${job_id}`, { method: 'DELETE', json: { extractor: 'acme.never-runs' } })),
    { status: 'OK' },
  )
  t.like(await ok(ann.call(`/api/extractions/${file}/status`)), { 'acme.never-runs': 'Cancel Success', Status: 'Done' })
})

test('extractors register, are listed, and belong to the account that registered them', async t => {
  const json = description('acme.leaves', { categories: ['CONVERT'], process: { file: ['image/*'] }, updated: 'ignored', id: 'ignored' })
  const first = await ok<{ status: string; message: string }>(ann.call('/api/extractors', { method: 'POST', json }))
  t.is(first.status, 'OK')
  const again = await ok<{ message: string }>(ann.call('/api/extractors', { method: 'POST', json: { ...json, version: '2.0' } }))
  t.is(again.message, first.message)
  const shown = await ok<Record<string, unknown>>(ann.call('/api/extractors/acme.leaves'))
  t.like(shown, {
    name: 'acme.leaves',
    version: '2.0',
    maturity: 'Development',
    categories: ['CONVERT'],
    repository: [{ repType: 'git', repUrl: 'https://example.org/leaves' }],
  })
  const converting = await ok<{ name: string }[]>(ann.call('/api/extractors?categories=convert'))
  t.deepEqual(
    converting.map(extractor => extractor.name),
    ['acme.leaves'],
  )
  t.is((await bob.call('/api/extractors', { method: 'POST', json })).status, 403)
  t.is((await ann.call('/api/extractors', { method: 'POST', json: description('pounce.image') })).status, 403)
  t.is((await server.as()('/api/extractors')).status, 401)
})

test('an extractor without required members is refused', async t => {
  for (const missing of ['name', 'version', 'description', 'author', 'contexts', 'repository']) {
    const { [missing]: _gone, ...json } = description('acme.incomplete') as Record<string, unknown>
    const answer = await ann.call('/api/extractors', { method: 'POST', json })
    t.is(answer.status, 400)
    t.like(await answer.json(), { status: 'KO', message: { [`obj.${missing}`]: [{ msg: 'error.path.missing', args: [] }] } })
  }
  t.is((await ann.call('/api/extractors/acme.incomplete')).status, 404)
})

test('only a server admin can delete an extractor', async t => {
  await ok(ann.call('/api/extractors', { method: 'POST', json: description('acme.short-lived') }))
  t.is((await ann.call('/api/extractions/acme.short-lived/delete', { method: 'DELETE' })).status, 403)
  t.deepEqual(await ok(server.as(server.admin.key)('/api/extractions/acme.short-lived/delete', { method: 'DELETE' })), {
    status: 'success',
  })
  t.is((await ann.call('/api/extractors/acme.short-lived')).status, 404)
})

test('external extractors upload previews and thumbnails, then attach them', async t => {
  const file = await upload(ann.call, await newDataset(ann.call))
  const { id } = await ok<{ id: string }>(ann.call('/api/previews', { method: 'POST', body: formWith('<p>hi</p>', 'p.html', 'text/html') }))
  t.is((await bob.call(`/api/previews/${id}`)).status, 404)
  t.is((await bob.call(`/api/files/${file}/previews/${id}`, { method: 'POST', json: {} })).status, 404)
  await ok(ann.call(`/api/files/${file}/previews/${id}`, { method: 'POST', json: { extractor_id: 'acme' } }))
  t.is((await bob.call(`/api/previews/${id}`)).status, 200)
  await ok(ann.call(`/api/previews/${id}/metadata`, { method: 'POST', json: { width: '10', count: 3 } }))
  t.deepEqual(await ok(ann.call(`/api/files/${file}/listpreviews`)), [{ id, filename: 'p.html', contentType: 'text/html' }])
  const thumbnail = await ok<{ id: string }>(
    ann.call('/api/fileThumbnail', { method: 'POST', body: formWith('gif', 't.gif', 'image/gif') }),
  )
  await ok(ann.call(`/api/files/${file}/thumbnails/${thumbnail.id}`, { method: 'POST', json: {} }))
  await server.drained()
  t.is((await info(file)).thumbnail, thumbnail.id)
  await ok(ann.call(`/api/files/${file}`, { method: 'DELETE' }))
  t.is((await ann.call(`/api/previews/${id}`)).status, 404)
  t.is((await ann.call(`/api/thumbnails/${thumbnail.id}/blob`)).status, 404)
  t.is((await ann.call('/api/previews', { method: 'POST', body: new FormData() })).status, 400)
  t.is((await ann.call('/api/fileThumbnail', { method: 'POST', body: formWith('', 'empty.gif', 'image/gif') })).status, 400)
})
