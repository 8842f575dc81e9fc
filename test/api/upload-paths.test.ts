import test, { type ExecutionContext } from 'ava'
import { bootForTest, type TestFetch, type TestServer } from 'pounce/sdk/testing'
import { newPerson, type Person } from '../support/people.ts'
import { formWith, newDataset, newFolder, ok, refusal, unknownId } from '../support/scene.ts'

let server: TestServer
let ann: Person
let bob: Person
test.before(async () => {
  server = await bootForTest()
  ann = await newPerson(server, 'ann')
  bob = await newPerson(server, 'bob')
})
test.after.always(() => server?.stop())

const version = { 'tus-resumable': '1.0.0' }
const type = { 'content-type': 'application/offset+octet-stream' }
const encoded = (about: Readonly<Record<string, string>>): string =>
  Object.entries(about)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
    .join(',')

const sendTus = (about: Readonly<Record<string, string>>, call: TestFetch = ann.call): Promise<Response> =>
  call('/api/uploads', {
    method: 'POST',
    headers: { ...version, ...type, 'upload-length': '3', 'upload-metadata': encoded({ extract: 'false', ...about }) },
    body: 'abc',
  })

const sendForm = (
  dataset: string,
  query: Readonly<Record<string, string>>,
  name = 'c.txt',
  call: TestFetch = ann.call,
): Promise<Response> =>
  call(`/api/uploadToDataset/${dataset}?${new URLSearchParams({ extract: 'false', ...query })}`, {
    method: 'POST',
    body: formWith('abc', name),
  })

const foldersOf = async (dataset: string): Promise<readonly string[]> =>
  (await ok<{ name: string }[]>(ann.call(`/api/datasets/${dataset}/folders`))).map(({ name }) => name).toSorted()

const filesOf = async (dataset: string): Promise<readonly string[]> => {
  const files = await ok<{ id: string; filename: string }[]>(ann.call(`/api/datasets/${dataset}/files`))
  const paths = await Promise.all(files.map(({ id }) => ok<{ path: string }>(ann.call(`/api/files/${id}/metadata`))))
  return files.map(({ filename }, at) => `${paths[at]?.path.replace(/\/$/, '')}/${filename}`).toSorted()
}

const make = (dataset: string, json: object, call: TestFetch = ann.call): Promise<Response> =>
  call(`/api/datasets/${dataset}/folders`, { method: 'POST', json })

const isUntouched = async (t: ExecutionContext, dataset: string): Promise<void> => {
  t.deepEqual([await foldersOf(dataset), await filesOf(dataset)], [[], []])
}

test('a resumable upload with a path creates its folders and stores the file in them', async t => {
  const dataset = await newDataset(ann.call)
  const answer = await sendTus({ dataset, path: 'a/b/c.txt' })
  t.is(answer.status, 201, await answer.text())
  t.is((await sendTus({ dataset, path: 'a/b/d.txt', filename: 'd.txt' })).status, 201)
  t.is((await sendTus({ dataset, path: 'e.txt' })).status, 201)
  t.deepEqual(await foldersOf(dataset), ['/a', '/a/b'])
  t.deepEqual(await filesOf(dataset), ['/a/b/c.txt', '/a/b/d.txt', '/e.txt'])
  t.like(await ok(ann.call(answer.headers.get('location') ?? '')), { path: 'a/b/c.txt', filename: 'c.txt', state: 'finished' })
})

test('a form upload accepts a path in the query or in a field before or after the file', async t => {
  const dataset = await newDataset(ann.call)
  t.is((await sendForm(dataset, { path: 'a/b/c.txt' })).status, 200)
  const first = new FormData()
  first.append('path', 'a/d.txt')
  first.append('File', new Blob(['abc']), 'd.txt')
  const last = formWith('abc', 'e.txt')
  last.append('path', 'a/b/e.txt')
  for (const body of [first, last])
    t.is((await ann.call(`/api/uploadToDataset/${dataset}?extract=false`, { method: 'POST', body })).status, 200)
  t.deepEqual(await filesOf(dataset), ['/a/b/c.txt', '/a/b/e.txt', '/a/d.txt'])
})

test('a field named path creates folders in every upload to a dataset, and is refused without one', async t => {
  const dataset = await newDataset(ann.call)
  const top = await newFolder(ann.call, dataset, 'top')
  const send = (to: string, path: string, fields: Readonly<Record<string, string>> = {}): Promise<Response> => {
    const body = formWith('abc', 'c.txt')
    for (const [name, value] of Object.entries({ path, ...fields })) body.append(name, value)
    return ann.call(to, { method: 'POST', body })
  }
  t.is((await send(`/api/datasets/${dataset}/files`, 'a/c.txt')).status, 200)
  t.is((await send('/api/files/uploadToDataset', 'b/c.txt', { dataset_id: dataset })).status, 200)
  t.is((await send(`/api/files/uploadToDataset?dataset_id=${dataset}&folder_id=${top}`, 'd/c.txt')).status, 200)
  t.deepEqual(await filesOf(dataset), ['/a/c.txt', '/b/c.txt', '/top/d/c.txt'])
  t.is((await send('/api/files', 'c.txt')).status, 200)
  t.like(await refusal(send('/api/files', 'a/c.txt')), { status: 400, message: 'A path with folders requires the dataset of the folders' })
})

test('a path is relative to the given folder', async t => {
  const dataset = await newDataset(ann.call)
  const top = await newFolder(ann.call, dataset, 'top')
  t.is((await sendForm(dataset, { path: 'a/c.txt', folder_id: top })).status, 200)
  t.is((await sendTus({ dataset, folder: top, path: 'a/d.txt' })).status, 201)
  t.like(await ok(make(dataset, { path: 'a/b', parentId: top })), { name: 'b', parentType: 'folder' })
  t.deepEqual(await foldersOf(dataset), ['/top', '/top/a', '/top/a/b'])
  t.deepEqual(await filesOf(dataset), ['/top/a/c.txt', '/top/a/d.txt'])
})

test('a field named path that is a JSON object is metadata of the file named path', async t => {
  const dataset = await newDataset(ann.call)
  const body = formWith('abc', 'path')
  body.append('path', '{"colour":"green"}')
  const { id } = await ok<{ id: string }>(ann.call(`/api/uploadToDataset/${dataset}?extract=false`, { method: 'POST', body }))
  const [document] = await ok<Record<string, unknown>[]>(ann.call(`/api/files/${id}/metadata.jsonld`))
  t.like(document, { content: { colour: 'green' } })
})

test('an empty folder is created by its path, or returned if it exists', async t => {
  const dataset = await newDataset(ann.call)
  const made = await ok<{ id: string }>(make(dataset, { path: 'x/y/z' }))
  t.like(made, { name: 'z', parentDatasetID: dataset, parentType: 'folder' })
  t.deepEqual(await ok(make(dataset, { path: 'x/y/z' })), made)
  // Only a new folder is known to be empty.
  t.is((await sendForm(dataset, { path: 'x/y/z/c.txt' })).status, 200)
  const filled: object = await ok(make(dataset, { path: 'x/y/z' }))
  t.deepEqual(Object.keys(filled).toSorted(), ['created', 'id', 'name', 'parentDatasetID', 'parentId', 'parentType'])
  t.deepEqual(await foldersOf(dataset), ['/x', '/x/y', '/x/y/z'])
})

test('fifty concurrent uploads create each folder once', async t => {
  const dataset = await newDataset(ann.call)
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      n % 2 === 0
        ? sendTus({ dataset, path: `a/b/c${n % 3}/f${n}.txt` })
        : sendForm(dataset, { path: `a/b/c${n % 3}/f${n}.txt` }, `f${n}.txt`),
    ),
  )
  t.deepEqual(
    answers.filter(({ ok }) => !ok),
    [],
  )
  t.deepEqual(await foldersOf(dataset), ['/a', '/a/b', '/a/b/c0', '/a/b/c1', '/a/b/c2'])
  t.is((await filesOf(dataset)).length, 50)
})

test('uploads by path succeed or get 404 while a folder of the path is repeatedly deleted', async t => {
  const dataset = await newDataset(ann.call)
  const sent = Array.from({ length: 20 }, (_, n) => sendForm(dataset, { path: `a/b/f${n}.txt` }, `f${n}.txt`))
  const deleting = (async () => {
    for (let round = 0; round < 5; round++) {
      const { id } = await ok<{ id: string }>(make(dataset, { path: 'a' }))
      await ann.call(`/api/datasets/${dataset}/deleteFolder/${id}`, { method: 'DELETE' })
    }
  })()
  const statuses = (await Promise.all(sent)).map(({ status }) => status)
  await deleting
  t.true(
    statuses.every(status => status === 200 || status === 404),
    String(statuses),
  )
  await server.drained()
  const folders = await foldersOf(dataset)
  t.is(new Set(folders).size, folders.length)
  for (const path of await filesOf(dataset)) t.regex(path, /^\/a\/b\/f\d+\.txt$/)
})

const bad: Readonly<Record<string, string>> = {
  empty: '',
  absolute: '/a/c.txt',
  'a parent segment': 'a/../c.txt',
  'a dot segment': './c.txt',
  'an empty name': 'a//c.txt',
  'a blank name': 'a/ /c.txt',
  'a trailing slash': 'a/b/',
  'a backslash': 'a\\c.txt',
  'a line break': 'a\n/c.txt',
  'a null byte': 'a\0/c.txt',
  'a long name': `${'x'.repeat(256)}/c.txt`,
  'a long path': `${'x/'.repeat(2000)}c.txt`,
  'too many folders': `${'x/'.repeat(101)}c.txt`,
}

for (const [what, path] of Object.entries(bad)) {
  test(`an invalid path is refused and changes nothing: ${what}`, async t => {
    const dataset = await newDataset(ann.call)
    const name = 'c.txt'
    const form = formWith('abc', name)
    form.append('path', path)
    for (const answer of [
      sendTus({ dataset, path }),
      sendForm(dataset, { path }, name),
      make(dataset, { path: path.replace(/c\.txt$/, 'c') }),
      ...(what === 'a line break' ? [] : [ann.call(`/api/uploadToDataset/${dataset}?extract=false`, { method: 'POST', body: form })]),
    ]) {
      const { status, code, message } = await refusal(answer)
      t.deepEqual([status, code], [400, 'invalid'], message)
      t.regex(message, /path/)
    }
    await isUntouched(t, dataset)
  })
}

test('a path that is nested too deeply below its folder is refused', async t => {
  const dataset = await newDataset(ann.call)
  const { id } = await ok<{ id: string }>(make(dataset, { path: Array.from({ length: 99 }, () => 'x').join('/') }))
  t.is((await sendForm(dataset, { path: 'y/c.txt', folder_id: id })).status, 200)
  for (const answer of [
    sendForm(dataset, { path: 'z/z/c.txt', folder_id: id }),
    sendTus({ dataset, folder: id, path: 'z/z/c.txt' }),
    make(dataset, { path: 'z/z', parentId: id }),
  ])
    t.like(await refusal(answer), { status: 400, message: 'Folders can be nested at most 100 levels deep' })
  t.false((await foldersOf(dataset)).some(name => name.endsWith('z')))
})

test('a path that does not end with the file name, or is sent with several files, is refused', async t => {
  const dataset = await newDataset(ann.call)
  const two = formWith('abc', 'c.txt')
  two.append('File', new Blob(['d']), 'd.txt')
  for (const [answer, says] of [
    [sendTus({ dataset, path: 'a/b', filename: 'c.txt' }), /path must end with the name/],
    [sendForm(dataset, { path: 'a/b' }), /path must end with the name/],
    [ann.call(`/api/uploadToDataset/${dataset}?path=a/c.txt`, { method: 'POST', body: two }), /one file/],
    [sendTus({ path: 'a/c.txt' }), /requires dataset/],
  ] as const) {
    const { status, message } = await refusal(answer)
    t.is(status, 400)
    t.regex(message, says)
  }
  await isUntouched(t, dataset)
})

test('without the right to add to the dataset no folders are created in it', async t => {
  const dataset = await newDataset(ann.call)
  for (const answer of [
    sendTus({ dataset, path: 'a/c.txt' }, bob.call),
    sendForm(dataset, { path: 'a/c.txt' }, 'c.txt', bob.call),
    make(dataset, { path: 'a' }, bob.call),
  ])
    t.is((await answer).status, 403)
  for (const answer of [
    sendForm(unknownId, { path: 'a/c.txt' }),
    make(unknownId, { path: 'a' }),
    make(dataset, { path: 'a', parentId: unknownId }),
    sendForm(dataset, { path: 'a/c.txt', folder_id: unknownId }),
  ])
    t.is((await answer).status, 404)
  t.is((await make(dataset, { path: 'a' }, server.as())).status, 401)
  t.is((await make(dataset, {})).status, 400)
  await isUntouched(t, dataset)
})

test('an unfinished upload creates no folders', async t => {
  const dataset = await newDataset(ann.call)
  const headers = { ...version, 'upload-length': '3', 'upload-metadata': encoded({ dataset, path: 'a/c.txt' }) }
  const answer = await ann.call('/api/uploads', { method: 'POST', headers })
  t.is(answer.status, 201)
  const location = answer.headers.get('location') ?? ''
  t.like(await ok(ann.call(location)), { path: 'a/c.txt', state: 'open' })
  await isUntouched(t, dataset)
  await ann.call(location, { method: 'DELETE', headers: version })
  await isUntouched(t, dataset)
})
