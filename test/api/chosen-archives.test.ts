import test from 'ava'
import { bootForTest, FixedClock, type TestFetch, type TestServer } from 'pounce/sdk/testing'
import { unzip } from '../support/archives.ts'
import { newPerson, type Person } from '../support/people.ts'
import { newDataset, newFolder, ok, refusal, unknownId, upload } from '../support/scene.ts'

let server: TestServer
let ann: Person
let bob: Person
const clock = new FixedClock(new Date().toISOString())
test.before(async () => {
  server = await bootForTest({ clock, config: { access: { private: true } } })
  ann = await newPerson(server, 'ann')
  bob = await newPerson(server, 'bob')
})
test.after.always(() => server?.stop())

interface Made {
  readonly id: string
  readonly url: string
  readonly filename: string
  readonly size: number
  readonly files: number
  readonly expires: string
}

const make = (json: object, call: TestFetch = ann.call): Promise<Response> => call('/api/archives', { method: 'POST', json })

const fetched = async ({ id, size }: Made): Promise<ReadonlyMap<string, string>> => {
  const bytes = Buffer.from(await (await ann.call(`/api/archives/${id}`)).arrayBuffer())
  if (bytes.length !== size) throw new Error(`${bytes.length} bytes, not ${size}`)
  return new Map([...(await unzip(bytes))].map(([path, content]) => [path, content.toString()]))
}

const scene = async (name = 'Leaves') => {
  const dataset = await newDataset(ann.call, { name })
  const a = await newFolder(ann.call, dataset, 'a')
  const b = await newFolder(ann.call, dataset, 'b', a)
  const put = (text: string, file: string, folder?: string) =>
    upload(ann.call, dataset, text, file, { query: `extract=false${folder ? `&folder_id=${folder}` : ''}` })
  return { dataset, a, b, root: await put('0', 'root.txt'), one: await put('1', 'one.txt', a), two: await put('2', 'two.txt', b) }
}
const file = (id: string) => ({ type: 'file', id })
const folder = (id: string) => ({ type: 'folder', id })

test('the selected files and folders are in one ZIP with their paths, each file once', async t => {
  const { a, root, two } = await scene()
  const answer = await make({ resources: [file(root), file(two), folder(a)] })
  t.is(answer.status, 201)
  const made = (await answer.json()) as Made
  t.like(made, { files: 3, filename: 'Leaves (Partial).zip', url: `${server.url}/api/archives/${made.id}` })
  t.is(answer.headers.get('location'), `/api/archives/${made.id}`)
  const got = await ann.call(`/api/archives/${made.id}`)
  t.regex(got.headers.get('content-disposition') ?? '', /Leaves \(Partial\)\.zip/)
  t.deepEqual([...(await fetched(made))].toSorted(), [
    ['a/b/two.txt', '2'],
    ['a/one.txt', '1'],
    ['root.txt', '0'],
  ])
})

test('a nested folder keeps its path, and the archive can be named', async t => {
  const { b } = await scene()
  const made = await ok<Made>(make({ resources: [folder(b)], name: 'mine' }))
  t.is(made.filename, 'mine.zip')
  t.deepEqual([...(await fetched(made)).keys()], ['a/b/two.txt'])
})

test('each of several datasets has a folder of its own, even if their names are equal', async t => {
  const [one, other] = [await scene('Same'), await scene('Same')]
  const made = await ok<Made>(make({ resources: [file(one.root), { type: 'dataset', id: other.dataset }] }))
  t.is(made.filename, 'files.zip')
  t.deepEqual(
    [...(await fetched(made)).keys()].toSorted(),
    [
      `Same_${one.dataset}/root.txt`,
      `Same_${other.dataset}/a/b/two.txt`,
      `Same_${other.dataset}/a/one.txt`,
      `Same_${other.dataset}/root.txt`,
    ].toSorted(),
  )
})

test('a file in several datasets has its path in the dataset specified', async t => {
  const { dataset, one } = await scene()
  const other = await newDataset(ann.call, { name: 'Other' })
  await ok(ann.call(`/api/datasets/${other}/files/${one}`, { method: 'POST', json: {} }))
  t.deepEqual([...(await fetched(await ok(make({ resources: [file(one)], dataset: other })))).keys()], ['one.txt'])
  t.deepEqual([...(await fetched(await ok(make({ resources: [file(one)], dataset })))).keys()], ['a/one.txt'])
})

test('specifying a dataset that the caller may not view has no effect', async t => {
  const { dataset: hidden, one } = await scene('Secret')
  const shown = await newDataset(ann.call, { name: 'Shown' })
  await ok(ann.call(`/api/datasets/${shown}/files/${one}`, { method: 'POST', json: {} }))
  const space = await ok<{ id: string }>(ann.asAdmin('/api/spaces', { method: 'POST', json: { name: 'Open', description: '' } }))
  const rolesandusers = { Editor: bob.id }
  await ok(ann.asAdmin(`/api/spaces/${space.id}/updateUsers?superAdmin=true`, { method: 'POST', json: { rolesandusers } }))
  await ok(ann.asAdmin(`/api/spaces/${space.id}/addDatasetToSpace/${shown}?superAdmin=true`, { method: 'POST', json: {} }))
  const made = await ok<Made>(make({ resources: [file(one)], dataset: hidden }, bob.call))
  t.is(made.filename, 'Shown (Partial).zip')
  const bytes = Buffer.from(await (await bob.call(`/api/archives/${made.id}`)).arrayBuffer())
  t.deepEqual([...(await unzip(bytes)).keys()], ['one.txt'])
})

test('an interrupted download can be resumed; once a selected file is deleted, it gets 404', async t => {
  const { root, two } = await scene()
  const made = await ok<Made>(make({ resources: [file(root), file(two)] }))
  const path = `/api/archives/${made.id}`
  const whole = await ann.call(path)
  const etag = whole.headers.get('etag') ?? ''
  const bytes = Buffer.from(await whole.arrayBuffer())
  const rest = await ann.call(path, { headers: { range: 'bytes=40-', 'if-range': etag } })
  t.is(rest.status, 206)
  t.deepEqual(Buffer.from(await rest.arrayBuffer()), bytes.subarray(40))
  await ann.call(`/api/files/${two}`, { method: 'DELETE' })
  t.is((await ann.call(path)).status, 404)
})

test('the caller must be allowed to download everything selected, at creation and at download', async t => {
  const { dataset, a, root } = await scene()
  for (const resources of [
    [file(root)],
    [folder(a)],
    [{ type: 'dataset', id: dataset }],
    [file(unknownId)],
    [file(root), folder(unknownId)],
  ])
    t.is((await make({ resources }, resources.length === 2 ? ann.call : bob.call)).status, 404)
  t.is((await make({ resources: [file(root)] }, server.as())).status, 401)
  for (const json of [
    {},
    { resources: [] },
    { resources: Array.from({ length: 10_001 }, () => file(root)) },
    { resources: [{ type: 'user', id: ann.id }] },
  ])
    t.is((await refusal(make(json))).status, 400)
  const { id } = await ok<Made>(make({ resources: [file(root)] }))
  t.is((await bob.call(`/api/archives/${id}`)).status, 404)
  t.is((await server.as()(`/api/archives/${id}`)).status, 401)
  t.is((await ann.call(`/api/archives/${unknownId}`)).status, 404)
})

test.serial('the URL of an archive is valid for a day and then deleted', async t => {
  const { root } = await scene()
  const { id } = await ok<Made>(make({ resources: [file(root)] }))
  clock.advance(23 * 60 * 60 * 1000)
  t.is((await ann.call(`/api/archives/${id}`)).status, 200)
  clock.advance(2 * 60 * 60 * 1000)
  t.is((await ann.call(`/api/archives/${id}`)).status, 404)
  await server.runPeriodic('resources.downloads/forget-archives')
  t.is((await ann.call(`/api/archives/${id}`)).status, 404)
})
