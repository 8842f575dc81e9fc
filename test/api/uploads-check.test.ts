import { createHash } from 'node:crypto'
import test from 'ava'
import { bootForTest, type TestFetch, type TestServer } from 'pounce/sdk/testing'
import { newPerson, type Person } from '../support/people.ts'
import { formWith, newDataset, newFolder, ok, refusal, unknownId } from '../support/scene.ts'

let server: TestServer
let ann: Person
let bob: Person
test.before(async () => {
  server = await bootForTest({ config: { access: { private: true } } })
  ann = await newPerson(server, 'ann')
  bob = await newPerson(server, 'bob')
})
test.after.always(() => server?.stop())

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const put = async (dataset: string, path: string, text: string): Promise<string> => {
  const body = formWith(text, path.split('/').at(-1) ?? '')
  return (
    await ok<{ id: string }>(
      ann.call(`/api/uploadToDataset/${dataset}?${new URLSearchParams({ extract: 'false', path })}`, { method: 'POST', body }),
    )
  ).id
}

const check = (json: object, call: TestFetch = ann.call): Promise<Response> => call('/api/uploads/check', { method: 'POST', json })

test('each file is reported as absent, same, other or invalid', async t => {
  const dataset = await newDataset(ann.call)
  const [root, below] = [await put(dataset, 'r.txt', 'root'), await put(dataset, 'a/b/c.txt', 'below')]
  const files = [
    { path: 'r.txt', size: 4, sha256: sha256('root').toUpperCase() },
    { path: 'r.txt', size: 4 },
    { path: 'r.txt', size: 4, sha256: sha256('toor') },
    { path: 'a/b/c.txt', size: 5 },
    { path: 'a/b/c.txt', size: 6 },
    { path: 'a/b', size: 5 },
    { path: 'a/c.txt', size: 5 },
    { path: 'x/y/z.txt', size: 5 },
    { path: 'a/../r.txt', size: 4 },
  ]
  const found = await ok<{ path: string; state: string; id: string | null; message?: string }[]>(check({ dataset, files }))
  t.deepEqual(
    found.map(({ path, state, id }) => [path, state, id]),
    [
      ['r.txt', 'same', root],
      ['r.txt', 'same', root],
      ['r.txt', 'other', root],
      ['a/b/c.txt', 'same', below],
      ['a/b/c.txt', 'other', below],
      ['a/b', 'absent', null],
      ['a/c.txt', 'absent', null],
      ['x/y/z.txt', 'absent', null],
      ['a/../r.txt', 'invalid', null],
    ],
  )
  t.regex(found.at(-1)?.message ?? '', /\.\./)
  const [folder] = await ok<{ id: string; name: string }[]>(ann.call(`/api/datasets/${dataset}/folders`))
  t.is(folder?.name, '/a')
  t.like(await ok(check({ dataset, folder: folder?.id, files: [{ path: 'b/c.txt', size: 5 }] })), [{ state: 'same', id: below }])
})

test('of several files with the same name, any can match; otherwise the newest is reported', async t => {
  const dataset = await newDataset(ann.call)
  const [first, second] = [await put(dataset, 'f.txt', 'one'), await put(dataset, 'f.txt', 'two!')]
  const found = await ok<{ state: string; id: string }[]>(check({ dataset, files: [3, 4, 5].map(size => ({ path: 'f.txt', size })) }))
  t.deepEqual(
    found.map(({ state, id }) => [state, id]),
    [
      ['same', first],
      ['same', second],
      ['other', second],
    ],
  )
})

test('names are compared after Unicode normalization', async t => {
  const dataset = await newDataset(ann.call)
  const id = await put(dataset, 'gr\u00fcn/\u00e4.txt', 'x')
  t.like(await ok(check({ dataset, files: [{ path: 'gru\u0308n/a\u0308.txt', size: 1 }] })), [{ state: 'same', id }])
})

test('at most a thousand files are checked in one request', async t => {
  const dataset = await newDataset(ann.call)
  await put(dataset, 'd7/f7.txt', 'x')
  const files = Array.from({ length: 1000 }, (_, n) => ({ path: `d${n % 50}/f${n}.txt`, size: 1 }))
  const found = await ok<{ path: string; state: string }[]>(check({ dataset, files }))
  t.deepEqual(
    found.filter(({ state }) => state !== 'absent').map(({ path }) => path),
    ['d7/f7.txt'],
  )
  t.is((await check({ dataset, files: [...files, files[0]] })).status, 400)
})

test('a check requires permission to add to the dataset', async t => {
  const dataset = await newDataset(ann.call)
  const files = [{ path: 'a.txt', size: 1 }]
  const stranger = await newFolder(ann.call, await newDataset(ann.call), 'elsewhere')
  for (const answer of [
    check({ dataset, files }, bob.call),
    check({ dataset: unknownId, files }),
    check({ dataset: 'nonsense', files }),
    check({ dataset, folder: unknownId, files }),
    check({ dataset, folder: stranger, files }),
  ])
    t.is((await answer).status, 404)
  t.is((await check({ dataset, files }, server.as())).status, 401)
  t.like(await refusal(check({ dataset, files: [{ path: 'a.txt', size: -1 }] })), { status: 400 })
})
